; C#, for the graph. docs/graph/reading.md has the captures.

(comment) @skip
(identifier) @name
(predefined_type) @name
[(preproc_if) (preproc_elif) (preproc_else)] @conditional
(preproc_if condition: (_) @skip)
(preproc_elif condition: (_) @skip)
[(preproc_region) (preproc_endregion) (preproc_nullable) (preproc_pragma) (preproc_define)] @skip
(attribute) @annotation
(attribute_argument name: (identifier) @word "=" (_) @value) @keyword
(parameter (attribute_list (attribute) @decorator))

; ---- namespaces

(using_directive !name [(identifier) (qualified_name) (generic_name) (alias_qualified_name)] @of) @use @wildcard
(using_directive name: (identifier) @alias [(identifier) (qualified_name) (generic_name) (alias_qualified_name)] @value .) @use_under
(using_directive "global") @everywhere
(namespace_declaration name: (_) @defined body: (_) @body) @namespace
(file_scoped_namespace_declaration name: (_) @value) @package
(qualified_name qualifier: (_) @of name: (identifier) @key) @get
(qualified_name qualifier: (_) @of name: (generic_name (identifier) @key)) @get
((alias_qualified_name alias: (_) @skip name: (_) @value) @await (#eq? @skip "global"))
((alias_qualified_name alias: (_) @label name: (_) @value) @await (#not-eq? @label "global"))

; ---- expressions

(member_access_expression expression: (_) @of name: (identifier) @key) @get
(member_access_expression expression: (_) @of name: (generic_name (identifier) @key)) @get
(member_access_expression expression: "this" @of @this name: (identifier) @key) @get
(member_access_expression expression: "this" @of @this name: (generic_name (identifier) @key)) @get
(member_access_expression expression: "base" @of @super name: (identifier) @key) @get
(member_access_expression expression: "base" @of @super name: (generic_name (identifier) @key)) @get
(conditional_access_expression condition: (_) @of (member_binding_expression name: (identifier) @key)) @get
(conditional_access_expression condition: (_) @of (member_binding_expression name: (generic_name (identifier) @key))) @get
(invocation_expression function: (generic_name . (identifier) @value) @await)
(invocation_expression function: (_) @of arguments: (_) @args) @call
(argument_list (argument) @arg)
(argument !name ["ref" "out"] (_) @value) @addressed
(argument name: (identifier) @word (_) @value .) @keyword
(object_creation_expression type: (_) @of arguments: (argument_list)? @args) @new
(implicit_object_creation_expression (argument_list) @args) @new
(object_creation_expression initializer: (_) @init)
(implicit_object_creation_expression (initializer_expression) @init)
(initializer_expression (assignment_expression right: (initializer_expression) @init))
(initializer_expression (assignment_expression left: (identifier) @word right: (_) @value) @keyword)
(anonymous_object_creation_expression (identifier) @label . "=")
(with_expression . (_) @of) @changed
(with_initializer . (identifier) @word (_) @value .) @keyword
(element_access_expression expression: (_) @of subscript: (_) @key) @index
(cast_expression type: (_) @type value: (_) @value) @cast
(as_expression left: (_) @value right: (_) @type) @cast
(is_expression left: (_) @left right: (_) @type) @narrow
(is_pattern_expression expression: (_) @left pattern: (declaration_pattern type: (_) @type name: (identifier) @bind)) @narrow
(is_pattern_expression expression: (_) @left pattern: (constant_pattern (_) @type)) @narrow
(conditional_expression condition: (_) @cond consequence: (_) @arm alternative: (_) @arm) @choice
(binary_expression) @operation
(switch_expression) @choice
(switch_expression_arm (_) @arm .)
(binary_expression left: (_) @arm @present operator: "??" right: (_) @arm) @choice
(binary_expression operator: ["&&" "||"] right: (_) @arm) @choice
(binary_expression left: (_) @arm operator: ["+" "-" "*" "/" "%"] right: (_) @arm) @sum
(prefix_unary_expression) @operation
(postfix_unary_expression ["++" "--"]) @operation
(typeof_expression) @class_of
(postfix_unary_expression (_) @value "!") @await
(await_expression (_) @value) @await
[(string_literal) (verbatim_string_literal) (interpolated_string_expression) (raw_string_literal) (character_literal) (null_literal) (boolean_literal)] @text
(interpolation (interpolation_brace) . (_) @value) @await
[(integer_literal) (real_literal)] @number
"this" @this
(lambda_expression body: (_) @value) @lambda
(lambda_expression body: (block) @body)
(lambda_expression parameters: (implicit_parameter) @param @bind)
(anonymous_method_expression (block) @body) @lambda
(tuple_expression (argument) @arg) @tuple

; ---- definitions

(method_declaration returns: (_) @returns name: (identifier) @defined body: (_)? @body) @function
(method_declaration (explicit_interface_specifier) name: (identifier) @explicit)
(explicit_interface_specifier (_) @base)
([(method_declaration (modifier) @overrides) (property_declaration (modifier) @overrides) (event_declaration (modifier) @overrides)]
  (#eq? @overrides "override"))
([(method_declaration (modifier) @hidden) (constructor_declaration (modifier) @hidden) (property_declaration (modifier) @hidden)] (#eq? @hidden "private"))
[(method_declaration (modifier "static" @static)) (constructor_declaration (modifier "static" @static))]
[(method_declaration (modifier "abstract" @abstract)) (property_declaration (modifier "abstract" @abstract))]
(method_declaration (modifier "extern" @abstract))
((method_declaration parameters: (parameter_list . (parameter (modifier) @_this) @extension_of)) (#eq? @_this "this"))
(local_function_statement type: (_) @returns name: (identifier) @defined body: (_) @body) @function
(constructor_declaration name: (_) @word body: (_) @body) @function @constructor
(constructor_initializer "base" @of @super (argument_list) @args) @call
(constructor_initializer "this" @of @this (argument_list) @args) @call
(destructor_declaration name: (_) @word body: (_) @body) @function
[(operator_declaration type: (_) @returns body: (_) @body) (conversion_operator_declaration type: (_) @returns body: (_) @body)] @function @static
(property_declaration type: (_) @returns name: (identifier) @defined accessors: (_)? @body value: (_)? @value) @function @property
(property_declaration (explicit_interface_specifier) name: (identifier) @explicit)
(property_declaration (modifier "static" @static))
(event_declaration type: (_) @returns name: (identifier) @defined accessors: (_) @body) @function @property
(event_declaration (explicit_interface_specifier) name: (identifier) @explicit)
(event_declaration (modifier "static" @static))
(indexer_declaration type: (_) @type accessors: (_)? @body) @block
(parameter type: (_)? @type name: (identifier) @bind) @param
(parameter "=" (_) @init)
((parameter (modifier) @_by) @by_reference (#any-of? @_by "ref" "out") (#not-match? @by_reference "\\breadonly\\s"))
(parameter_list name: (identifier) @bind @param @rest)
(parameter_list type: (array_type) @rest_type)
(class_declaration name: (_) @defined body: (_)? @body) @class
(struct_declaration name: (_) @defined body: (_)? @body) @class
(record_declaration name: (_) @defined body: (_)? @body) @class
(record_declaration (parameter_list (parameter type: (_) @type name: (_) @bind) @field @property))
[(class_declaration (parameter_list (parameter type: (_) @type name: (_) @bind @of_head) @field))
 (struct_declaration (parameter_list (parameter type: (_) @type name: (_) @bind @of_head) @field))]
(interface_declaration name: (_) @defined body: (_) @body) @interface
((class_declaration (modifier) @partial) (#eq? @partial "partial"))
((struct_declaration (modifier) @partial) (#eq? @partial "partial"))
((record_declaration (modifier) @partial) (#eq? @partial "partial"))
((interface_declaration (modifier) @partial) (#eq? @partial "partial"))
(enum_declaration name: (_) @defined body: (_) @body) @class
(enum_member_declaration name: (_) @bind value: (_)? @value) @field @receiver
(delegate_declaration type: (_) @returns name: (_) @defined) @class
(delegate_declaration parameters: (parameter_list) @signature @open)
(base_list [(identifier) (qualified_name) (generic_name)] @base)
(base_list (primary_constructor_base_type type: (_) @base))
(type_parameter name: (_) @label @bind)
(type_parameter_constraints_clause . (identifier) @left @bind (type_parameter_constraint type: (_) @right)) @assign
(variable_declaration type: (_) @type) @variables
[(field_declaration) (event_field_declaration)] @decorated
((field_declaration (modifier) @_seen (variable_declaration type: (_) @hidden)) (#not-any-of? @_seen "public" "protected" "internal"))
(field_declaration . (variable_declaration type: (_) @hidden))
(field_declaration (attribute_list) . (variable_declaration type: (_) @hidden))
((field_declaration (modifier) @_seen (variable_declaration type: (_) @open)) (#any-of? @_seen "public" "protected" "internal"))
(variable_declarator name: (identifier) @left @bind) @assign
(variable_declarator name: (identifier) "=" (_) @right) @assign
(variable_declarator (initializer_expression) @list)
(variable_declarator (initializer_expression (_) @arg))
[(collection_expression) (implicit_array_creation_expression)] @list
(implicit_array_creation_expression (initializer_expression (_) @arg))
(collection_expression (collection_element (expression_element (_) @arg)))
(assignment_expression left: (_) @left right: (_) @right) @assign
((declaration_expression type: (_) @type name: (identifier) @left @bind) @assign (#not-match? @type "[*]$"))
(argument "out" (declaration_expression type: (pointer_type) @type name: (identifier) @left @bind) @assign)
(declaration_expression type: (pointer_type)) @operation  ; `f(a * b)`

; ---- types

(generic_name . (identifier) @of) @index
(type_argument_list (_) @type)
(array_type type: (_) @of) @array
((array_type rank: (_) @brackets) (#match? @brackets ","))
(nullable_type type: (_) @value) @nullable
(implicit_type) @text

; ---- statements

(return_statement (_) @value) @return
(return_statement) @return
(arrow_expression_clause (_) @value) @return
(throw_statement) @raise
(block (local_declaration_statement)) @block
(if_statement condition: (_) @cond consequence: (_) @arm) @branch
(if_statement alternative: (_) @arm @otherwise)
(foreach_statement type: (_) @type left: (identifier) @left @bind right: (_) @over body: (_) @body) @loop
(for_statement body: (_) @body) @loop
(while_statement condition: (_) @cond body: (_) @body) @loop
(do_statement body: (_) @body condition: (_) @cond) @loop
(try_statement body: (_) @body) @try
(try_statement (finally_clause) @finally)
(catch_clause body: (_) @body) @handler
(catch_clause (catch_filter_clause (_) @cond))
(catch_declaration type: (_) @type name: (identifier)? @left @bind)
(break_statement) @break
(continue_statement) @continue
(switch_statement) @match @until_break
(switch_section) @case
(switch_section (declaration_pattern type: (_) @type name: (identifier) @left @bind) @assign)
(switch_expression_arm (declaration_pattern type: (_) @type name: (identifier) @left @bind) @assign)
(subpattern (declaration_pattern type: (_) @type name: (identifier) @left @bind) @assign)
(list_pattern (declaration_pattern type: (_) @type name: (identifier) @left @bind) @assign)
(and_pattern (declaration_pattern type: (_) @type name: (identifier) @left @bind) @assign)
(or_pattern (declaration_pattern type: (_) @type name: (identifier) @left @bind) @assign)
(negated_pattern (declaration_pattern type: (_) @type name: (identifier) @left @bind) @assign)
(parenthesized_pattern (declaration_pattern type: (_) @type name: (identifier) @left @bind) @assign)
(recursive_pattern) @class_pattern
(recursive_pattern type: (_) @type)
(recursive_pattern name: (identifier) @left @bind)
(property_pattern_clause (subpattern . (identifier) @word) @member_pattern)
(parenthesized_variable_designation name: (identifier) @label @bind)
(list_pattern name: (identifier) @label @bind)
(tuple_pattern name: (identifier) @bind) @tuple
(variable_declarator (tuple_pattern) @left (_) @right .) @assign
(foreach_statement left: (tuple_pattern) @left right: (_) @over body: (_) @body) @loop
(query_expression) @block
(from_clause name: (identifier) @label @bind)
(let_clause . (identifier) @label @bind)
(join_clause . (identifier) @label @bind)
(join_clause type: (_) . (identifier) @label @bind)
(join_into_clause (identifier) @label @bind)
(query_expression "into" . (identifier) @label @bind)
