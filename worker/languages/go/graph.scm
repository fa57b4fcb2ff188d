; Go, for the graph. docs/graph/reading.md has the captures.

(comment) @skip
(identifier) @name
(type_identifier) @name
(package_identifier) @name
(field_identifier) @label
(label_name) @label

(package_clause (package_identifier) @value) @package
(import_spec name: (package_identifier)? @alias @bind path: (_) @module) @package
(import_spec name: (blank_identifier) @alias)
(import_spec name: (dot) @wildcard)

; ---- expressions

(selector_expression operand: (_) @of field: (_) @key) @get
(qualified_type package: (_) @of name: (_) @key) @get
(call_expression function: (_) @of arguments: (_) @args) @call
(argument_list (_) @arg)
(type_conversion_expression type: [
  (generic_type) (function_type) (channel_type) (interface_type) (struct_type) (parenthesized_type)] @of
  operand: (_) @arg) @call
(type_conversion_expression type: [(slice_type) (array_type) (map_type)] @type operand: (_) @value) @cast
(composite_literal type: [(type_identifier) (qualified_type) (generic_type)] @of body: (_) @args) @new
(composite_literal type: [(map_type) (slice_type) (array_type) (implicit_length_array_type) (struct_type)] @type body: (_) @args) @composite
(literal_element (literal_value) @composite)
(keyed_element key: (literal_element (literal_value) @key))
(keyed_element key: (literal_element (identifier) @word) value: (_) @value) @keyword
(index_expression operand: (_) @of index: (_) @key) @index
(slice_expression operand: (_) @value) @await
(unary_expression operand: (_) @value) @await
(unary_expression operator: "<-" operand: (_) @over)
(type_assertion_expression operand: (_) @value type: (_) @type) @cast
(binary_expression) @operation
[(interpreted_string_literal) (raw_string_literal)] @text
(int_literal) @number
(expression_list . (_) . ",") @tuple
(func_literal body: (_) @body) @lambda

; ---- definitions

(function_declaration name: (identifier) @defined body: (_)? @body) @function
(method_declaration name: (_) @word body: (_)? @body) @function
(method_declaration receiver: (parameter_list (parameter_declaration) @receiver))
(method_declaration receiver: (parameter_list (parameter_declaration type: (generic_type type_arguments: (type_arguments (type_elem (type_identifier) @label @bind))))))
(method_declaration receiver: (parameter_list (parameter_declaration type: (pointer_type (generic_type type_arguments: (type_arguments (type_elem (type_identifier) @label @bind)))))))
(method_elem name: (_) @defined) @function
(function_declaration parameters: (parameter_list (parameter_declaration) @param))
(method_declaration receiver: (parameter_list (parameter_declaration) @param))
(method_declaration parameters: (parameter_list (parameter_declaration) @param))
(method_elem parameters: (parameter_list (parameter_declaration) @param))
(func_literal parameters: (parameter_list (parameter_declaration) @param))
(function_type parameters: (parameter_list (parameter_declaration) @param))
(parameter_declaration name: (identifier) @bind)
(parameter_declaration type: (_) @type)
(variadic_parameter_declaration name: (identifier)? @bind type: (_) @type) @param @rest
(function_declaration result: (_) @returns)
(method_declaration result: (_) @returns)
(method_elem result: (_) @returns)
(func_literal result: (_) @returns)
(function_type result: (_) @returns)
(function_declaration result: (parameter_list) @results)
(method_declaration result: (parameter_list) @results)
(method_elem result: (parameter_list) @results)
(func_literal result: (parameter_list) @results)
(function_type result: (parameter_list) @results)

(type_spec name: (_) @defined type: (struct_type (field_declaration_list) @body)) @class
(type_spec name: (_) @defined type: (interface_type) @body) @interface
(type_spec name: (_) @defined type: [(map_type) (slice_type) (array_type) (function_type) (channel_type) (pointer_type)] @returns) @class
(type_spec name: (_) @defined type: [(type_identifier) (qualified_type) (generic_type)] @base) @class
; a type without a name: []struct{ a A }{{b}}
(slice_type element: (struct_type (field_declaration_list) @body) @class)
(array_type element: (struct_type (field_declaration_list) @body) @class)
(implicit_length_array_type element: (struct_type (field_declaration_list) @body) @class)
(map_type value: (struct_type (field_declaration_list) @body) @class)
(pointer_type (struct_type (field_declaration_list) @body) @class)
(var_spec type: (struct_type (field_declaration_list) @body) @class)
(field_declaration type: (struct_type (field_declaration_list) @body) @class)
(parameter_declaration type: (struct_type (field_declaration_list) @body) @class)
(composite_literal type: (struct_type (field_declaration_list) @body) @class)
; x.(interface{ A() })
[(type_assertion_expression type: (interface_type (_)) @interface)
 (type_case type: (interface_type (_)) @interface)
 (var_spec type: (interface_type (_)) @interface)
 (parameter_declaration type: (interface_type (_)) @interface)
 (field_declaration type: (interface_type (_)) @interface)
 (type_constraint (interface_type (_)) @interface)
 (slice_type element: (interface_type (_)) @interface)
 (map_type value: (interface_type (_)) @interface)
 (function_declaration result: (interface_type (_)) @interface)
 (method_declaration result: (interface_type (_)) @interface)]
(type_alias name: (_) @left @bind type: (_) @right) @assign
(field_declaration name: (_) @bind) @field
(field_declaration name: (_) . type: (_) @type)
(field_declaration !name type: (_) @base)
(type_elem (_) @base)
(type_parameter_declaration . name: (identifier) @left @bind . type: (type_constraint . (_) @right .)) @assign
(type_parameter_declaration name: (identifier) @label @bind type: (type_constraint (_) (_)))
(type_parameter_declaration name: (identifier) @label @bind . ",")
(type_parameter_declaration "," . name: (identifier) @label @bind)

; ---- types

(slice_type element: (_) @of) @array
(array_type element: (_) @of) @array
(implicit_length_array_type element: (_) @of) @array
(channel_type value: (_) @of) @channel
(map_type key: (_) @key value: (_) @of) @array
(function_type) @signature
(generic_type type: (_) @of) @index
(generic_type type_arguments: (type_arguments (_) @key))
(call_expression type_arguments: (type_arguments (_) @type))

; ---- statements

; what has names of its own
[(block (statement_list [(short_var_declaration) (var_declaration) (const_declaration) (type_declaration)]))
 (if_statement initializer: (short_var_declaration))
 (for_statement [(range_clause) (for_clause initializer: (short_var_declaration))])
 (expression_switch_statement initializer: (short_var_declaration))
 (type_switch_statement alias: (_)) (type_switch_statement initializer: (short_var_declaration))
 (expression_case (statement_list [(short_var_declaration) (var_declaration)]))
 (default_case (statement_list [(short_var_declaration) (var_declaration)]))
 (type_case (statement_list [(short_var_declaration) (var_declaration)]))
 (communication_case)] @block
(short_var_declaration left: (_) @left right: (_) @right) @assign
(short_var_declaration left: (expression_list (identifier) @bind))
(var_spec name: (identifier) @left @bind) @assign  ; one pattern for each part: together they cost the cube of the names
(var_spec type: (_) @type)
(var_spec value: (_) @right)
(const_spec (identifier) @left @bind)
(const_spec type: (_) @type)
(const_spec value: (_) @right) @assign
(const_spec !value) @repeated
(assignment_statement left: (_) @left right: (_) @right) @assign
(short_var_declaration right: (expression_list . [(type_assertion_expression) (index_expression) (unary_expression operator: "<-")] @checked .))
(assignment_statement right: (expression_list . [(type_assertion_expression) (index_expression) (unary_expression operator: "<-")] @checked .))
(var_spec value: (expression_list . [(type_assertion_expression) (index_expression) (unary_expression operator: "<-")] @checked .))
(return_statement (_) @value) @return
(return_statement) @return
(if_statement condition: (_) @cond consequence: (_) @arm) @branch
(if_statement alternative: (_) @arm @otherwise)
(for_statement body: (_) @body) @loop
(range_clause left: (_) @left right: (_) @over)
(range_clause left: (expression_list (identifier) @bind))
(break_statement) @break
(continue_statement) @continue
(select_statement) @match @until_break
(communication_case) @case
(expression_switch_statement) @match @until_break
(type_switch_statement) @match @until_break
(type_switch_statement alias: (expression_list (identifier) @left @bind))
[(expression_case) (default_case) (type_case) (communication_case)] @case
(expression_case (statement_list) @body)
(default_case (statement_list) @body)
(communication_case (statement_list) @body)
(type_case (statement_list) @body)
(type_case type: (_) @type)
(receive_statement left: (_) @left right: (_) @right) @assign
(receive_statement left: (expression_list (identifier) @bind))
(receive_statement right: (_) @checked)
