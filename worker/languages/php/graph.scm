; PHP, for the graph. docs/graph/reading.md has the captures.

(comment) @skip
(name) @name
(variable_name) @name
((variable_name) @this (#eq? @this "$this"))
((relative_scope) @name (#match? @name "^(?i:self)$"))
((relative_scope) @this (#match? @this "^(?i:static)$"))
((named_type (name) @this) (#match? @this "^(?i:static)$"))
((relative_scope) @super (#match? @super "^(?i:parent)$"))
(qualified_name) @path

; ---- namespaces

(namespace_definition name: (_) @value !body) @package
(namespace_definition name: (_) @defined body: (_) @body) @namespace
(namespace_use_declaration (namespace_use_clause)) @use
(namespace_use_declaration (namespace_name) @of body: (namespace_use_group) @args) @use_under
(namespace_use_clause . [(name) (qualified_name)] @value alias: (name)? @alias) @use_under

; ---- expressions

(member_access_expression object: (_) @of name: (name) @key) @get
(nullsafe_member_access_expression object: (_) @of name: (name) @key) @get
(scoped_property_access_expression scope: (_) @of name: (variable_name) @key) @get
(class_constant_access_expression . (_) @of . (name) @key) @get
(member_call_expression object: (_) @of name: (name) @key arguments: (_) @args) @call
(nullsafe_member_call_expression object: (_) @of name: (name) @key arguments: (_) @args) @call
(scoped_call_expression scope: (_) @of name: (name) @key arguments: (_) @args) @call
(member_call_expression object: (_) @of name: [(variable_name) (binary_expression) (encapsed_string) (function_call_expression)] @value arguments: (_) @args) @called_by_name
(nullsafe_member_call_expression object: (_) @of name: [(variable_name) (binary_expression) (encapsed_string) (function_call_expression)] @value arguments: (_) @args) @called_by_name
(scoped_call_expression scope: (_) @of name: [(variable_name) (binary_expression) (encapsed_string) (function_call_expression)] @value arguments: (_) @args) @called_by_name
(function_call_expression function: (_) @of arguments: (_) @args) @call
(function_call_expression function: (parenthesized_expression [(member_access_expression) (scoped_property_access_expression)] @arm) @choice)
(object_creation_expression . [(name) (qualified_name) (relative_scope) (variable_name)] @of) @new
((object_creation_expression . (name) @this) (#match? @this "^(?i:static)$"))
((object_creation_expression . (name) @super) (#match? @super "^(?i:parent)$"))
(object_creation_expression (arguments) @args)
(object_creation_expression (anonymous_class (base_clause (_) @of) body: (_) @class)) @new
(object_creation_expression (anonymous_class !body)) @operation
(object_creation_expression (anonymous_class body: (_) @class)) @operation
(anonymous_class (class_interface_clause) @skip)
(arguments (argument) @arg)
[(function_call_expression arguments: (arguments . (variadic_placeholder) .))
  (member_call_expression arguments: (arguments . (variadic_placeholder) .))
  (nullsafe_member_call_expression arguments: (arguments . (variadic_placeholder) .))
  (scoped_call_expression arguments: (arguments . (variadic_placeholder) .))] @reference
(argument name: (name) @word (_) @value .) @keyword
(argument (variadic_unpacking (_) @value) @spread)
(subscript_expression . (_) @of . (_)? @key) @index
(conditional_expression condition: (_) @cond alternative: (_) @arm) @choice
(conditional_expression body: (_) @arm)
(conditional_expression condition: (_) @arm !body)
(match_expression) @choice
(match_condition_list) @operation
(match_conditional_expression return_expression: (_) @arm)
(match_default_expression return_expression: (_) @arm)
(binary_expression) @operation
(binary_expression left: (_) @arm operator: "??" right: (_) @arm) @choice
(binary_expression operator: ["&&" "and" "||" "or"] right: (_) @arm) @choice
(binary_expression left: [(variable_name) (member_access_expression)] @left operator: "instanceof" right: (_) @type) @narrow
[(unary_op_expression) (update_expression)] @operation
(cast_expression value: (_) @value) @operation
(clone_expression (_) @value) @await
[(string) (encapsed_string) (heredoc) (nowdoc) (boolean) (null) (float)] @text
(integer) @number
(array_creation_expression) @list
(array_element_initializer . (_) @key . (_) @value .) @pair
(arrow_function body: (_) @value) @lambda
(anonymous_function body: (_) @body) @lambda
(anonymous_function_use_clause (variable_name) @captured)
(anonymous_function_use_clause (by_ref (variable_name) @outward) @nonlocal)
(list_literal) @tuple
(list_literal (variable_name) @bind)

; ---- definitions

(function_definition name: (_) @defined body: (_) @body) @function
(function_definition return_type: (_) @returns)
(method_declaration name: (_) @defined body: (_)? @body) @function
(method_declaration return_type: (_) @returns)
(method_declaration (static_modifier) @static)
((method_declaration (visibility_modifier) @hidden) (#eq? @hidden "private"))
(method_declaration (abstract_modifier) @abstract)
(simple_parameter type: (_)? @type name: (variable_name) @bind default_value: (_)? @init) @param
(variadic_parameter type: (_)? @type name: (variable_name) @bind) @param @rest
[(simple_parameter reference_modifier: (_)) (variadic_parameter reference_modifier: (_)) (property_promotion_parameter reference_modifier: (_))] @by_reference
(property_promotion_parameter visibility: (_)? @exported type: (_)? @type name: (variable_name) @bind default_value: (_)? @init) @param
(class_declaration name: (_) @defined body: (_) @body) @class
(trait_declaration "trait" @partial)
(trait_declaration name: (_) @defined body: (_) @body) @class
(enum_declaration name: (_) @defined body: (_) @body) @class
(interface_declaration name: (_) @defined body: (_) @body) @interface
(base_clause (_) @base)
(class_interface_clause (_) @base)
(use_declaration [(name) (qualified_name)] @base)
(use_as_clause . (name) @trait_method)
(use_as_clause . (_) @value (name) @bind .) @field @alias
(use_instead_of_clause . (class_constant_access_expression) @value) @field @alias
(enum_case name: (_) @bind) @field @receiver
(const_declaration (const_element)) @decorated
((function_call_expression function: [(name) (qualified_name)] @_define
  arguments: (arguments . (argument [(string) (encapsed_string)] @word) . (argument (_)))) @constant_made
  (#match? @_define "^\\\\?(?i:define)$"))
((function_call_expression function: [(name) (qualified_name)] @_alias
  arguments: (arguments . (argument) . (argument))) @class_aliased
  (#match? @_alias "^\\\\?(?i:class_alias)$"))
(const_element . (name) @bind (_)? @value) @field
(property_declaration type: (_)? @type (property_element name: (variable_name) @bind)) @field
(property_element default_value: (_) @value)

; ---- what binds

(assignment_expression left: (_) @left right: (_) @right) @assign
(assignment_expression left: (variable_name) @bind)
(reference_assignment_expression left: (_) @left right: (_) @right) @assign
(reference_assignment_expression left: (variable_name) @bind)
(reference_assignment_expression (variable_name) @aliased)
(by_ref (variable_name) @aliased)
(argument (reference_modifier) . (variable_name) @aliased)
(dynamic_variable_name) @operation
([(assignment_expression left: (dynamic_variable_name)) (reference_assignment_expression left: (dynamic_variable_name))] @aliased)
(augmented_assignment_expression left: (_) @left right: (_) @right) @augment
(augmented_assignment_expression left: (variable_name) @bind)
(static_variable_declaration name: (variable_name) @left @bind value: (_)? @right) @assign
(global_declaration (variable_name) @outward) @global

; ---- types

(optional_type (_) @value) @await
(union_type (_) @arm) @choice

; ---- statements

(return_statement (_) @value) @return
(return_statement) @return
(throw_expression (_) @value) @raise
((expression_statement (function_call_expression function: [(name) (qualified_name)] @_asserts
    arguments: (arguments . (argument (_) @cond)))) @asserted
  (#match? @_asserts "^\\\\?assert$"))
(if_statement condition: (_) @cond body: (_) @arm) @branch
(if_statement alternative: (else_if_clause condition: (_) @cond body: (_) @arm))
(if_statement alternative: (else_clause body: (_) @arm @otherwise))
(foreach_statement . (_) @over . (variable_name) @left @bind body: (_) @body) @loop
(foreach_statement . (_) @over . (pair (_) . (variable_name) @left @bind) body: (_) @body) @loop
(foreach_statement . (_) @over . (list_literal) @left body: (_) @body) @loop
(foreach_statement . (_) @over . (by_ref (variable_name) @left @bind) body: (_) @body) @loop
(for_statement body: (_) @body) @loop
(while_statement condition: (_) @cond body: (_) @body) @loop
(do_statement body: (_) @body condition: (_) @cond) @loop
(try_statement body: (_) @body) @try
(try_statement (finally_clause body: (_) @finally))
(catch_clause body: (_) @body) @handler
(catch_clause type: (type_list . (_) @type .))
(catch_clause type: (type_list (_) . (_)) @type)
(type_list (_) @arm . (_)) @choice
(type_list (_) . (_) @arm) @choice
(catch_clause name: (variable_name) @left @bind)
(break_statement) @break
(continue_statement) @continue
(switch_statement) @match @until_break
[(case_statement) (default_statement)] @case
