; What C++ has besides C, for the graph. docs/graph/reading.md has the captures.

(namespace_identifier) @name
(primitive_type) @name
(this) @this
(template_declaration parameters: (_) @attribute @templated)
(template_declaration (requires_clause) @attribute @templated)
[(qualified_identifier) (nested_namespace_specifier)] @path
(template_type name: (_) @of arguments: (template_argument_list)) @index
(template_argument_list (type_descriptor type: (_) @key))
(template_function name: (identifier) @value) @applied
(template_method name: (field_identifier) @label)
(field_initializer . (template_method name: (_) @key))
(qualified_identifier name: (template_method name: (_) @value) @applied)
(field_expression argument: (_) @of field: [(destructor_name) (qualified_identifier)] @key) @get
(field_expression argument: (_) @of field: [(template_method name: (_) @key) (dependent_name (template_method name: (_) @key))]) @get
(dependent_name [(template_type) (template_function)]) @operation

; ---- namespaces

(namespace_definition name: (_) @defined body: (_) @body) @namespace
(namespace_definition "inline" @open)
(namespace_definition !name body: (declaration_list [(function_definition) (class_specifier) (struct_specifier)] @static))
(namespace_definition !name body: (declaration_list (template_declaration [(function_definition) (class_specifier) (struct_specifier)] @static)))
(namespace_alias_definition name: (_) @left @bind . (_) @right) @assign
(using_declaration "namespace" [(identifier) (qualified_identifier)] @of) @use @wildcard
(using_declaration . (qualified_identifier) @value) @use
(alias_declaration name: (_) @left @bind type: (type_descriptor type: (_) @right)) @assign @fresh
(type_parameter_declaration (type_identifier) @label @bind)
(optional_type_parameter_declaration name: (type_identifier) @label @bind)
(variadic_type_parameter_declaration (type_identifier) @label @bind)

; ---- classes

(class_specifier name: (_) @defined body: (_) @body) @class
(class_specifier name: (qualified_identifier) @container)
(struct_specifier name: (qualified_identifier) @container)
(base_class_clause [(type_identifier) (qualified_identifier) (template_type)] @base)
(function_definition (function_declarator declarator: (field_identifier) @defined)) @function
(field_declaration_list (function_definition (function_declarator declarator: (identifier) @defined)) @function)
(field_declaration_list (function_definition !type (function_declarator declarator: (identifier))) @constructor)
(field_declaration_list (declaration !type declarator: (function_declarator declarator: (identifier) @defined)) @function @declaration @constructor)
; ... of a template or under a condition, and behind `#else`
(field_declaration_list (_ (function_definition !type (function_declarator declarator: (identifier) @defined)) @function @constructor))
(field_declaration_list (_ (declaration !type declarator: (function_declarator declarator: (identifier) @defined)) @function @declaration @constructor))
(field_declaration_list (_ (_ (function_definition !type (function_declarator declarator: (identifier) @defined)) @function @constructor)))
(field_declaration_list (_ (_ (declaration !type declarator: (function_declarator declarator: (identifier) @defined)) @function @declaration @constructor)))
(field_declaration type: (_) @returns declarator: (function_declarator declarator: (field_identifier) @defined)) @function @declaration
(field_declaration type: (_) @returns declarator: (pointer_declarator (function_declarator declarator: (field_identifier) @defined))) @function @declaration
(field_declaration type: (_) @returns declarator: (pointer_declarator (pointer_declarator (function_declarator declarator: (field_identifier) @defined)))) @function @declaration
(field_declaration type: (_) @returns declarator: (reference_declarator (function_declarator declarator: (field_identifier) @defined))) @function @declaration
(reference_declarator (field_identifier) @bind)
(enumerator) @receiver @computed
(field_declaration "virtual" @virtual)
(field_declaration declarator: [(function_declarator) (pointer_declarator) (reference_declarator)] default_value: (number_literal) @abstract)  ; `= 0`
(function_definition "virtual" @virtual)
(virtual_specifier) @virtual @overrides
(field_declaration_list (function_definition (function_declarator declarator: (operator_name) @points)))
(field_declaration_list (function_definition (pointer_declarator (function_declarator declarator: (operator_name) @points))))
(field_declaration_list (function_definition (reference_declarator (function_declarator declarator: (operator_name) @points))))
(field_declaration type: (_) @returns declarator: (pointer_declarator (function_declarator declarator: (operator_name) @points))) @function @declaration
(field_declaration type: (_) @returns declarator: (reference_declarator (function_declarator declarator: (operator_name) @points))) @function @declaration
(field_declaration type: (_) @returns declarator: (function_declarator declarator: (operator_name) @points)) @function @declaration
; an operator that is a template, deleted as well
(template_declaration (function_definition declarator: [(function_declarator declarator: (operator_name) @points) (reference_declarator (function_declarator declarator: (operator_name) @points)) (pointer_declarator (function_declarator declarator: (operator_name) @points))]))
(template_declaration (declaration type: (_) @returns declarator: (init_declarator declarator: [(function_declarator declarator: (operator_name) @points) (reference_declarator (function_declarator declarator: (operator_name) @points)) (pointer_declarator (function_declarator declarator: (operator_name) @points))] value: (delete_expression))) @function @declaration)
(translation_unit (declaration type: (_) @returns declarator: (reference_declarator (function_declarator))) @function @declaration)
(preproc_ifdef (declaration type: (_) @returns declarator: (reference_declarator (function_declarator))) @function @declaration)
(preproc_if (declaration type: (_) @returns declarator: (reference_declarator (function_declarator))) @function @declaration)
(preproc_else (declaration type: (_) @returns declarator: (reference_declarator (function_declarator))) @function @declaration)
(preproc_elif (declaration type: (_) @returns declarator: (reference_declarator (function_declarator))) @function @declaration)
(declaration_list (declaration type: (_) @returns declarator: (reference_declarator (function_declarator))) @function @declaration)
(friend_declaration (declaration) @skip)
(friend_declaration (function_definition) @hoisted)
(function_definition (function_declarator declarator: (qualified_identifier) @container))
(function_definition (function_declarator declarator: (qualified_identifier)) (default_method_clause) @body) @function
(function_definition (reference_declarator (function_declarator declarator: (qualified_identifier) @container)))
(pointer_declarator (function_declarator declarator: (qualified_identifier) @container))
(pointer_declarator (pointer_declarator (function_declarator declarator: (qualified_identifier) @container)))
(reference_declarator (function_declarator declarator: (identifier) @defined))
(function_definition (pointer_declarator (function_declarator declarator: (field_identifier) @defined)))
(function_definition (pointer_declarator (pointer_declarator (function_declarator declarator: (field_identifier) @defined))))
(function_definition (reference_declarator (function_declarator declarator: (field_identifier) @defined)))
(function_definition declarator: (qualified_identifier name: (operator_cast)) @container)
(qualified_identifier name: [(destructor_name) (operator_name) (operator_cast)] @word)
((function_declarator (type_qualifier) @keeps) (#eq? @keeps "const"))
((function_declarator (ref_qualifier) @lasting) (#eq? @lasting "&"))
((function_declarator (ref_qualifier) @passing) (#eq? @passing "&&"))
(explicit_function_specifier) @asked_for
(template_declaration [(function_definition) (declaration) (class_specifier) (struct_specifier) (union_specifier) (alias_declaration) (concept_definition) (friend_declaration)] @templated)
((template_declaration parameters: (_) @_parameters [(function_definition) (declaration)] @constrained) (#match? @_parameters "(?i)enable|require|[a-z]>? *= *(0|nullptr|true)\\b"))
(template_declaration (requires_clause) [(function_definition) (declaration)] @constrained)
((function_definition type: (_) @_given) @constrained (#match? @_given "(?i)enable_?if"))
(destructor_name (identifier) @skip)
(function_declarator (trailing_return_type (type_descriptor type: (_) @returns)))
(function_definition body: (_) @body) @function
(field_initializer . [(field_identifier) (template_method)] @key [(argument_list) (initializer_list)] @args) @initializer
(field_initializer . (qualified_identifier) @of [(argument_list) (initializer_list)] @args) @initializer

; ---- parameters and variables

(parameter_declaration type: [(type_identifier) (template_type) (qualified_identifier)] @pointee declarator: [(pointer_declarator) (abstract_pointer_declarator)])
(optional_parameter_declaration type: [(type_identifier) (template_type) (qualified_identifier)] @pointee declarator: (pointer_declarator))
(declaration type: [(type_identifier) (template_type) (qualified_identifier)] @pointee declarator: [(pointer_declarator) (init_declarator declarator: (pointer_declarator))])
(field_declaration type: [(type_identifier) (template_type) (qualified_identifier)] @pointee declarator: (pointer_declarator))
(function_definition type: [(type_identifier) (template_type) (qualified_identifier)] @pointee declarator: (pointer_declarator))
(type_descriptor type: [(type_identifier) (template_type) (qualified_identifier)] @pointee declarator: (abstract_pointer_declarator))
(sized_type_specifier) @name
(sized_type_specifier type: (_) @skip)
(parameter_declaration type: (primitive_type) @pointee declarator: [(pointer_declarator) (abstract_pointer_declarator) (array_declarator) (abstract_array_declarator)])
(optional_parameter_declaration type: (primitive_type) @pointee declarator: (pointer_declarator))
(declaration type: (primitive_type) @pointee declarator: [(pointer_declarator) (array_declarator) (init_declarator declarator: [(pointer_declarator) (array_declarator)])])
(field_declaration type: (primitive_type) @pointee declarator: [(pointer_declarator) (array_declarator)])
(function_definition type: (primitive_type) @pointee declarator: (pointer_declarator))
(for_range_loop type: (primitive_type) @pointee declarator: (pointer_declarator))
(type_descriptor type: (primitive_type) @pointee declarator: (abstract_pointer_declarator))

(parameter_declaration (reference_declarator (identifier) @bind))
(optional_parameter_declaration type: (_) @type default_value: (_) @init) @param
(optional_parameter_declaration declarator: (identifier) @bind)
(optional_parameter_declaration (pointer_declarator declarator: (identifier) @bind))
(optional_parameter_declaration (reference_declarator (identifier) @bind))
(variadic_parameter_declaration) @param @rest
(variadic_parameter_declaration type: (_) @type)
(variadic_parameter_declaration declarator: (variadic_declarator (identifier) @bind))
(variadic_parameter_declaration declarator: (reference_declarator (variadic_declarator (identifier) @bind)))
(function_declarator parameters: (parameter_list "..." @param @rest))
(declaration (reference_declarator (identifier) @left @bind @assign))
(compound_statement (declaration type: [(type_identifier) (template_type) (qualified_identifier)] declarator: (function_declarator declarator: (identifier) @left @bind @assign parameters: (parameter_list . (parameter_declaration type: (type_identifier) !declarator)))))  ; A a(b);
(compound_statement (declaration (function_declarator declarator: (identifier) @left @bind @assign parameters: (parameter_list . (parameter_declaration declarator: (abstract_function_declarator parameters: (parameter_list)))))))  ; A a(b());
(compound_statement (declaration declarator: (function_declarator parameters: (parameter_list (parameter_declaration type: (type_identifier)) @arg))))
((compound_statement (declaration declarator: (function_declarator parameters: (parameter_list (parameter_declaration type: [(type_identifier) (qualified_identifier)] @of declarator: (abstract_function_declarator parameters: (parameter_list) @args)) @call @arg)))) (#match? @args "^[(]\\s*[)]$"))
(init_declarator declarator: (reference_declarator (identifier) @left @bind) value: (_) @right) @assign
(structured_binding_declarator (identifier) @bind) @tuple
(init_declarator declarator: (structured_binding_declarator) @left value: (_) @right) @assign
(init_declarator declarator: (reference_declarator (structured_binding_declarator) @left) value: (_) @right) @assign
(for_range_loop declarator: (structured_binding_declarator) @left right: (_) @over body: (_) @body) @loop
(for_range_loop declarator: (reference_declarator (structured_binding_declarator) @left) right: (_) @over body: (_) @body) @loop
(for_range_loop type: (_) @type declarator: (identifier) @left @bind right: (_) @over body: (_) @body) @loop
(for_range_loop type: (_) @type declarator: (reference_declarator (identifier) @left @bind) right: (_) @over body: (_) @body) @loop
(for_range_loop type: (_) @type declarator: (pointer_declarator (identifier) @left @bind) right: (_) @over body: (_) @body) @loop

; ---- expressions and statements

; a function that a macro makes, of a class perhaps: TEST_F(A, b) { }
(translation_unit (compound_statement) @block @implicit)
(declaration_list (compound_statement) @block @implicit)
(preproc_if (compound_statement) @block @implicit)
(preproc_ifdef (compound_statement) @block @implicit)
(preproc_else (compound_statement) @block @implicit)
(preproc_elif (compound_statement) @block @implicit)
(translation_unit (function_definition !type declarator: (function_declarator declarator: (identifier))) @implicit)
(declaration_list (function_definition !type declarator: (function_declarator declarator: (identifier))) @implicit)
(preproc_if (function_definition !type declarator: (function_declarator declarator: (identifier))) @implicit)
(preproc_ifdef (function_definition !type declarator: (function_declarator declarator: (identifier))) @implicit)
(preproc_else (function_definition !type declarator: (function_declarator declarator: (identifier))) @implicit)
(preproc_elif (function_definition !type declarator: (function_declarator declarator: (identifier))) @implicit)

(new_expression type: (_) @of arguments: (_)? @args) @new
(argument_list (parameter_pack_expansion pattern: (_) @value) @spread)
(new_expression placement: (argument_list) @operation)
(compound_literal_expression type: [(type_identifier) (template_type) (qualified_identifier)] @of value: (_) @args) @new
(pointer_expression operator: "*" argument: (_) @value) @pointed
(pointer_expression operator: "&" argument: (_) @value) @addressed
(delete_expression) @operation
(lambda_expression body: (_) @body) @lambda
((lambda_capture_initializer left: (identifier) @left @bind right: (identifier) @right) @assign (#not-eq? @left @right))
((lambda_capture_initializer left: (identifier) @left @bind right: (call_expression arguments: (argument_list . (_) @_given .)) @right) @assign (#not-eq? @left @_given))
(lambda_capture_initializer left: (identifier) @left @bind right: (call_expression arguments: [(argument_list . ")") (argument_list . (_) . (_))]) @right) @assign
(lambda_capture_initializer left: (identifier) @left @bind right: [(pointer_expression) (field_expression) (new_expression) (subscript_expression) (number_literal) (string_literal) (qualified_identifier) (this)] @right) @assign
(throw_statement) @raise
(try_statement body: (_) @body) @try
(catch_clause body: (_) @body) @handler
(catch_clause parameters: (parameter_list (parameter_declaration declarator: [
  (identifier) @left (reference_declarator (identifier) @left) (pointer_declarator declarator: (identifier) @left)])))
(condition_clause value: (declaration value: (_) @right))
(user_defined_literal) @operation
[(raw_string_literal) (true) (false)] @text
