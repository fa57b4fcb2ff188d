; What C and C++ have in common, for the graph. docs/graph/reading.md has the captures.

(comment) @skip
(identifier) @name
(type_identifier) @name
(field_identifier) @label
(statement_identifier) @label

; ---- the preprocessor

(preproc_include) @skip
(preproc_def name: (_) @defined value: (_)? @body) @function @static
(preproc_def value: (_) @tokens)
((preproc_def value: (_) @_word) @renames (#match? @_word "^[A-Za-z_][A-Za-z_0-9]*$"))
((preproc_def value: (_) @opens) (#match? @opens "^[ \t\\\\\r\n]*namespace[ \t\\\\\r\n]+[A-Za-z_]"))
((preproc_call directive: (_) @_directive argument: (_) @undefined) (#match? @_directive "undef$"))
(preproc_def !value name: (_) @defined) @class @guard
(preproc_function_def name: (_) @defined value: (_)? @body) @function @static
(preproc_function_def value: (_) @tokens)
(preproc_function_def parameters: (preproc_params (identifier) @param @bind))
(preproc_ifdef name: (identifier) @label)
(preproc_defined (identifier) @label)
(preproc_directive) @skip
[(preproc_if) (preproc_ifdef) (preproc_elif) (preproc_elifdef) (preproc_else)] @conditional

; ---- expressions

(field_expression argument: (_) @of field: (field_identifier) @key) @get
(call_expression function: (_) @of arguments: (_) @args) @call
(argument_list (_) @arg)
(offsetof_expression type: (_) @of member: (_) @key) @get
(subscript_expression . (_) @of . (_) @key) @index
(pointer_expression argument: (_) @value) @await
(cast_expression type: (_) @type value: (_) @value) @cast
(compound_literal_expression type: (_) @type value: (_) @value) @cast
(conditional_expression consequence: (_) @arm alternative: (_) @arm) @choice
[(binary_expression) (unary_expression) (update_expression) (sizeof_expression)] @operation
[(string_literal . "\"") (concatenated_string . (string_literal . "\"")) (char_literal) (null)] @text  ; `L"a"` is of other characters
(number_literal) @number
(initializer_list) @list
(initializer_list (_) @arg)
(initializer_pair designator: (_) value: (_) @value) @keyword
(field_designator (field_identifier) @word)
(type_descriptor type: (_) @value declarator: (_)) @await

; ---- definitions

(function_definition type: (_)? @returns body: (_) @body) @function
(function_definition (storage_class_specifier "static") @static)
(function_definition declarator: (function_declarator declarator: (identifier) @defined))
(pointer_declarator declarator: (function_declarator declarator: (identifier) @defined))
(declaration declarator: (function_declarator declarator: (identifier) @defined))
(translation_unit (declaration type: (_) @returns declarator: [(function_declarator) (pointer_declarator (function_declarator)) (pointer_declarator (pointer_declarator (function_declarator)))]) @function @declaration)
(preproc_ifdef (declaration type: (_) @returns declarator: [(function_declarator) (pointer_declarator (function_declarator)) (pointer_declarator (pointer_declarator (function_declarator)))]) @function @declaration)
(preproc_if (declaration type: (_) @returns declarator: [(function_declarator) (pointer_declarator (function_declarator)) (pointer_declarator (pointer_declarator (function_declarator)))]) @function @declaration)
(preproc_else (declaration type: (_) @returns declarator: [(function_declarator) (pointer_declarator (function_declarator)) (pointer_declarator (pointer_declarator (function_declarator)))]) @function @declaration)
(preproc_elif (declaration type: (_) @returns declarator: [(function_declarator) (pointer_declarator (function_declarator)) (pointer_declarator (pointer_declarator (function_declarator)))]) @function @declaration)
(declaration_list (declaration type: (_) @returns declarator: [(function_declarator) (pointer_declarator (function_declarator)) (pointer_declarator (pointer_declarator (function_declarator)))]) @function @declaration)
(parameter_declaration type: (_) @type) @param
(parameter_declaration declarator: (identifier) @bind)
(parameter_declaration (pointer_declarator declarator: (identifier) @bind))
(parameter_declaration (pointer_declarator declarator: (pointer_declarator declarator: (identifier) @bind)))
(parameter_declaration (array_declarator declarator: (identifier) @bind))
(parameter_declaration (pointer_declarator declarator: (array_declarator declarator: (identifier) @bind)))
(parameter_declaration (array_declarator declarator: (pointer_declarator declarator: (identifier) @bind)))
(parameter_declaration (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (identifier) @bind))))
(struct_specifier name: (_) @defined body: (_) @body) @class
(union_specifier name: (_) @defined body: (_) @body) @class
((enum_specifier name: (_) @defined body: (_) @body) @class (#match? @class "^enum\\s+(class|struct)\\b"))
((enum_specifier name: (_) @bind body: (_)) @field (#not-match? @field "^enum\\s+(class|struct)\\b"))
(type_definition type: (struct_specifier !name body: (_) @body) declarator: (type_identifier) @defined) @class
(type_definition type: (struct_specifier !name body: (_) @body) declarator: (parenthesized_declarator (type_identifier) @defined)) @class
(type_definition type: (union_specifier !name body: (_) @body) declarator: (type_identifier) @defined) @class
(type_definition type: (union_specifier !name body: (_) @body) declarator: (parenthesized_declarator (type_identifier) @defined)) @class
(type_definition type: [(struct_specifier !name body: (_)) (union_specifier !name body: (_))] declarator: (type_identifier) declarator: [(pointer_declarator declarator: (type_identifier) @defined) (array_declarator declarator: (type_identifier) @defined) (parenthesized_declarator (pointer_declarator declarator: (type_identifier) @defined))])
(type_definition type: [(struct_specifier !name body: (_)) (union_specifier !name body: (_))] declarator: [(pointer_declarator declarator: (type_identifier) @defined) (array_declarator declarator: (type_identifier) @defined) (parenthesized_declarator (pointer_declarator declarator: (type_identifier) @defined))] declarator: (type_identifier))
(type_definition type: (struct_specifier !name body: (_) @body) @class . declarator: [(pointer_declarator) (array_declarator) (parenthesized_declarator (pointer_declarator))] . ";")
(type_definition type: (union_specifier !name body: (_) @body) @class . declarator: [(pointer_declarator) (array_declarator) (parenthesized_declarator (pointer_declarator))] . ";")
(type_definition type: (_) @right declarator: (type_identifier) @left @bind) @assign @fresh
(type_definition type: (_) @right declarator: (parenthesized_declarator (type_identifier) @left @bind)) @assign @fresh
(type_definition type: (_) @right declarator: (pointer_declarator declarator: (type_identifier) @left @bind)) @assign @fresh
(type_definition type: (_) @right declarator: (parenthesized_declarator (pointer_declarator declarator: (type_identifier) @left @bind))) @assign @fresh
(type_definition type: (_) @right declarator: (pointer_declarator declarator: (pointer_declarator declarator: (type_identifier) @left @bind))) @assign @fresh
(type_definition type: (_) @right declarator: (array_declarator declarator: (type_identifier) @left @bind size: (number_literal))) @assign @fresh
(type_definition declarator: (function_declarator declarator: (type_identifier) @bind @field))
(type_definition declarator: (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (type_identifier) @bind @field))))
(type_definition declarator: (pointer_declarator declarator: (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (type_identifier) @bind @field)))))
(enumerator name: (_) @bind value: (_)? @value) @field
(field_declaration type: (_) @type) @field
(field_declaration declarator: (field_identifier) @bind)
(pointer_declarator declarator: (field_identifier) @bind)
(array_declarator declarator: (field_identifier) @bind)
(field_declaration type: (struct_specifier !name body: (_) @body) @class declarator: (_))
(field_declaration type: (union_specifier !name body: (_) @body) @class declarator: (_))
(declaration type: (struct_specifier !name body: (_) @body) @class)
(declaration type: (union_specifier !name body: (_) @body) @class)

; ---- variables

(declaration type: (_) @type) @variables
(declaration declarator: (identifier) @left @bind @assign)
(declaration declarator: (pointer_declarator declarator: (identifier) @left @bind @assign))
(declaration declarator: (array_declarator declarator: (identifier) @left @bind @assign))
(declaration declarator: (pointer_declarator declarator: (pointer_declarator declarator: (identifier) @left @bind @assign)))
(declaration declarator: (pointer_declarator declarator: (array_declarator declarator: (identifier) @left @bind @assign)))
(declaration declarator: (array_declarator declarator: (array_declarator declarator: (identifier) @left @bind @assign)))
(declaration (storage_class_specifier "extern")) @declaration
(init_declarator declarator: (identifier) @left @bind value: (_) @right) @assign
(init_declarator declarator: (pointer_declarator declarator: (identifier) @left @bind) value: (_) @right) @assign
(init_declarator declarator: (pointer_declarator declarator: (pointer_declarator declarator: (identifier) @left @bind)) value: (_) @right) @assign
(init_declarator declarator: (array_declarator declarator: (identifier) @left @bind) value: (_) @right) @assign
(init_declarator declarator: (pointer_declarator declarator: (array_declarator declarator: (identifier) @left @bind)) value: (_) @right) @assign
(init_declarator declarator: (array_declarator declarator: (array_declarator declarator: (identifier) @left @bind)) value: (_) @right) @assign
(init_declarator declarator: (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (array_declarator declarator: (identifier) @left @bind)))) value: (_) @right) @assign
(init_declarator declarator: (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (identifier) @left @bind))) value: (_) @right) @assign
(declaration declarator: (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (identifier) @left @bind @assign))))
(assignment_expression left: (_) @left right: (_) @right) @assign

; ---- statements

(compound_statement (declaration)) @block
(return_statement (_) @value) @return
(return_statement) @return
(goto_statement) @raise
(if_statement condition: (_) @cond consequence: (_) @arm) @branch
(else_clause (_) @arm @otherwise)
(for_statement body: (_) @body) @loop
(while_statement condition: (_) @cond body: (_) @body) @loop
(do_statement body: (_) @body condition: (_) @cond) @loop
(break_statement) @break
(continue_statement) @continue
(switch_statement) @match @until_break
(case_statement) @case
