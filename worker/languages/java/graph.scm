; Java, for the graph. docs/graph/reading.md has the captures.

[(line_comment) (block_comment)] @skip
(identifier) @name
(type_identifier) @name
[(integral_type) (floating_point_type) (boolean_type)] @name
((type_identifier) @text (#eq? @text "var"))

(package_declaration (_) @value) @package
(import_declaration (_) @module) @import_path
(import_declaration (asterisk) @wildcard)
(scoped_identifier scope: (_) @of name: (_) @key) @get
(element_value_pair key: (identifier) @label)

; ---- expressions

(field_access object: (_) @of field: (identifier) @key) @get
(field_access object: (_) @type field: (this)) @cast
(method_invocation object: (_)? @of name: (_) @key arguments: (_) @args) @call
(method_reference . (_) @of (identifier) @key) @reference
(explicit_constructor_invocation constructor: (super) @of arguments: (_) @args) @call
(object_creation_expression type: (_) @of arguments: (_) @args) @new
(object_creation_expression (class_body) @class)
(argument_list (_) @arg)
(array_access array: (_) @of index: (_) @key) @index
(cast_expression type: (_) @type value: (_) @value) @cast
(array_creation_expression type: (_) @of value: (_)? @value) @array_made
(array_creation_expression [(dimensions_expr) (dimensions)] @brackets)
(array_initializer) @list
(array_initializer (_) @arg)
(this) @this
(super) @super
[(string_literal) (character_literal) (null_literal) (true) (false)] @text
[(decimal_integer_literal) (hex_integer_literal) (octal_integer_literal) (binary_integer_literal) (decimal_floating_point_literal)] @number
(class_literal) @class_of
(ternary_expression condition: (_) @cond consequence: (_) @arm alternative: (_) @arm) @choice
[(binary_expression) (unary_expression) (update_expression)] @operation
(binary_expression operator: ["&&" "||"] right: (_) @arm) @choice
(binary_expression left: (_) @arm operator: ["+" "-" "*" "/" "%"] right: (_) @arm) @sum
(instanceof_expression left: (_) @left right: (_) @type name: (identifier)? @bind) @narrow
(lambda_expression body: (_) @value) @lambda
(lambda_expression body: (block) @body)
(lambda_expression parameters: (identifier) @param @bind)
(inferred_parameters (identifier) @param @bind)

; ---- definitions

(method_declaration type: (_) @returns name: (_) @defined body: (_)? @body) @function
(annotation_type_element_declaration type: (_) @returns name: (_) @defined value: (_)? @value) @function
(constructor_declaration name: (_) @word body: (_) @body) @function @constructor
(compact_constructor_declaration name: (_) @word body: (_) @body) @function @constructor @of_head
(method_declaration (modifiers "static" @static))
[(method_declaration (modifiers "private" @hidden)) (constructor_declaration (modifiers "private" @hidden))]
(class_declaration (modifiers "private" @hidden))
(field_declaration (modifiers "static" @static))
(field_declaration (modifiers "private" @hidden))
(_ (modifiers ["public" "protected"] @open))
(method_declaration (modifiers "abstract" @abstract))
(formal_parameter type: (_) @type name: (identifier) @bind) @param
(spread_parameter (variable_declarator name: (identifier) @bind) @rest) @param
(spread_parameter [(array_type) (boolean_type) (floating_point_type) (generic_type) (integral_type) (scoped_type_identifier) (type_identifier)] @type)
(class_declaration name: (_) @defined body: (_) @body) @class
(interface_declaration name: (_) @defined body: (_) @body) @interface
(annotation_type_declaration name: (_) @defined body: (_) @body) @interface
(enum_declaration name: (_) @defined body: (_) @body) @class
(record_declaration name: (_) @defined body: (_) @body) @class
(record_declaration parameters: (formal_parameters [(formal_parameter) (spread_parameter)] @field))
([(formal_parameter dimensions: (_) @brackets) (variable_declarator dimensions: (_) @brackets)
  (method_declaration dimensions: (_) @brackets) (enhanced_for_statement dimensions: (_) @brackets)])
(superclass (_) @base)
[(class_declaration name: (_) @extends_none !superclass) (record_declaration name: (_) @extends_none)
 (enum_declaration name: (_) @extends_none) (interface_declaration name: (_) @extends_none)]
(super_interfaces (type_list (_) @base))
(extends_interfaces (type_list (_) @base))
(enum_constant name: (_) @bind) @field @receiver
(static_initializer (block) @body) @function
(class_body (block) @body @function)
(enum_body_declarations (block) @body @function)
(enum_constant (class_body) @class)
(field_declaration type: (_) @type) @variables
(local_variable_declaration type: (_) @type) @variables
(constant_declaration type: (_) @type) @variables
(variable_declarator name: (identifier) @left @bind value: (_)? @right) @assign
(assignment_expression left: (_) @left right: (_) @right) @assign
(type_parameter (type_identifier) @label @bind .)
(type_parameter (type_identifier) @left @bind (type_bound . (_) @right)) @assign

; ---- types

(wildcard (super) (_) @arm) @choice

(generic_type . (_) @of) @index
(type_arguments (_) @type)
(scoped_type_identifier . (_) @of (type_identifier) @key .) @get
(array_type element: (_) @of) @array

; ---- statements

(return_statement (_) @value) @return
(return_statement) @return
(throw_statement) @raise
(if_statement condition: (_) @cond consequence: (_) @arm) @branch
(if_statement alternative: (_) @arm @otherwise)
(enhanced_for_statement type: (_) @type name: (identifier) @left @bind value: (_) @over body: (_) @body) @loop
(for_statement body: (_) @body) @loop
(while_statement condition: (_) @cond body: (_) @body) @loop
(do_statement body: (_) @body condition: (_) @cond) @loop
(try_statement body: (_) @body) @try
(try_statement (finally_clause) @finally)
(try_with_resources_statement body: (_) @body) @try
(try_with_resources_statement (finally_clause) @finally)
(resource type: (_) @type name: (identifier) @left @bind value: (_) @right) @assign
(catch_clause body: (_) @body) @handler
(catch_type (_) @arm . (_)) @choice
(catch_type (_) . (_) @arm) @choice
(catch_formal_parameter (catch_type) @type name: (identifier) @left @bind)
(break_statement) @break
(continue_statement) @continue
(switch_expression) @match @until_break
[(switch_block_statement_group) (switch_rule)] @case
(switch_label (identifier) @case_name)
(type_pattern . (_) @type . (identifier) @bind .) @pattern
(record_pattern_component . (_) @type . (identifier) @bind .) @pattern
