; TypeScript alone.

(type_identifier) @name @names_type

(required_parameter pattern: (identifier) @bind type: (_)? @type value: (_)? @init) @param
(optional_parameter pattern: (identifier) @bind type: (_)? @type value: (_)? @init) @param
(required_parameter pattern: (rest_pattern (identifier) @bind) @rest type: (_)? @type) @param
(required_parameter pattern: [(object_pattern) (array_pattern)] @left type: (_)? @type value: (_)? @init) @param
(optional_parameter pattern: [(object_pattern) (array_pattern)] @left type: (_)? @type) @param
(required_parameter [(accessibility_modifier) (override_modifier) "readonly"] @exported)
(optional_parameter [(accessibility_modifier) (override_modifier) "readonly"] @exported)

(required_parameter pattern: (this) type: (_) @type) @own_type

(function_declaration return_type: (_) @returns)
(generator_function_declaration return_type: (_) @returns)
(function_expression return_type: (_) @returns)
(arrow_function return_type: (_) @returns)
(method_definition return_type: (_) @returns)
(function_signature name: (identifier) @defined return_type: (_)? @returns) @function @overload
(class_body (method_signature name: (_) @defined return_type: (_)? @returns) @function @overload)
(abstract_method_signature name: (_) @defined return_type: (_)? @returns) @function @abstract
(interface_body (method_signature name: (_) @defined return_type: (_)? @returns) @function)
(object_type (method_signature name: (_) @defined return_type: (_)? @returns) @function)

(abstract_class_declaration name: (_) @defined body: (_) @body) @class
(extends_clause value: (_) @base !type_arguments)
(extends_clause value: (_) @of type_arguments: (_)) @index @base
(implements_clause (_) @base)
(interface_declaration name: (_) @defined body: (_) @body) @interface
(extends_type_clause type: (_) @base)
(object_type) @interface
(object_type . (index_signature type: (_) @of) .) @keyed
(object_type . (index_signature (mapped_type_clause type: (index_type_query) @keys)) .)
(enum_declaration name: (_) @defined body: (_) @body) @namespace
(enum_body name: (property_identifier) @bind)
(enum_assignment name: (property_identifier) @bind)
(enum_body name: (string (string_fragment) @label @bind))
(enum_assignment name: (string (string_fragment) @label @bind))
(internal_module name: [(identifier) (nested_identifier)] @defined body: (_) @body) @namespace
(ambient_declaration (statement_block) @body @open) @namespace
(module name: (string) @module body: (_) @body @open) @namespace
(import_statement (import_require_clause)) @imports
(import_require_clause (identifier) @alias @bind source: (string) @module)
((import_alias . (identifier) @left @bind "=" (_) @right) @assign (#not-eq? @right "require"))
((import_alias . (identifier) @bind "=" (identifier) @_require) (#eq? @_require "require"))
(export_statement "=" @wildcard @exported)
(public_field_definition name: (_) @bind type: (_)? @type value: (_)? @value) @field
(public_field_definition "static" @static)
(property_signature name: (_) @bind type: (_)? @type) @field

(variable_declarator type: (_) @type)
(assignment_expression "using" left: (identifier) @bind)
(type_alias_declaration name: (_) @left @bind @declaration !type_parameters value: (_) @right) @assign
(type_alias_declaration name: (_) @defined @declaration type_parameters: (_) value: (_) @value) @type_alias
(type_parameter name: (type_identifier) @label @bind !constraint)
(type_parameter name: (type_identifier) @left @bind constraint: (constraint (_) @right) value: (default_type (_) @otherwise)?) @assign
(as_expression (_) @value (_) @type) @cast
(satisfies_expression . (_) @value) @await
(non_null_expression (_) @value) @await

(generic_type name: (_) @of) @index
(type_arguments (_) @type)
(instantiation_expression . (_) @value) @await
(nested_type_identifier module: (_) @of name: (_) @key) @get
(nested_identifier object: (_) @of property: (_) @key) @get
(union_type (_) @arm) @choice
(intersection_type (_) @arm) @choice
(array_type (_) @of) @array
(tuple_type) @tuple
(tuple_type (_) @arg)
(tuple_type (required_parameter name: (identifier) @label type: (type_annotation (_) @value)) @await)
(tuple_type (optional_parameter name: (identifier) @label type: (type_annotation (_) @value)) @await)
(tuple_type (required_parameter name: (rest_pattern)) @operation)
(optional_type (_) @value) @await
(rest_type) @operation
(type_query (_) @of) @typeof
(this_type) @this
(function_type return_type: (_) @returns) @signature
(call_signature return_type: (_)? @returns) @signature @open
(constructor_type type: (_) @returns) @signature
(conditional_type) @operation
(index_type_query) @operation
(infer_type . (type_identifier) @label @bind)
(lookup_type) @lookup
(type_predicate type: (_) @type) @predicate
(mapped_type_clause name: (type_identifier) @label @bind)
(literal_type [(string) (true) (false) (null) (undefined) (unary_expression)]) @text
(decorator) @operation
(required_parameter (decorator) @decorator)
(optional_parameter (decorator) @decorator)
(class_body (decorator) @attribute)
