; What only the TypeScript grammars know.

; ---- types

(abstract_class_declaration name: (_) @name body: (_) @body) @definition.class
(interface_declaration name: (_) @name body: (_) @body) @definition.interface
(type_alias_declaration name: (_) @name value: (_) @value) @definition.type
(enum_declaration name: (_) @name body: (_) @body) @definition.enum
(enum_body name: (_) @name @definition.constant)
(enum_assignment name: (_) @name value: (_) @value) @definition.constant
(internal_module name: (_) @name body: (_) @body) @definition.module
(module name: (_) @name body: (_)? @body) @definition.module
(expression_statement (internal_module name: (_) @name)) @definition

; ---- signatures without a body, and fields

(function_signature name: (identifier) @name) @definition.function
(method_signature name: (_) @name) @definition.method
(abstract_method_signature name: (_) @name) @definition.method
(public_field_definition name: (_) @name
  value: [(function_expression body: (_) @body) (_ "=>" body: (_) @body)]) @definition.method
(public_field_definition name: [(property_identifier) (private_property_identifier)] @name value: (_)? @value)
  @definition.variable
(class_body (_ (accessibility_modifier) @visibility name: (_) @name))

; ---- parameters of a constructor that are fields of its class, which stand outside of its body then

((method_definition name: (_) @name body: (_) @inside) (#eq? @name "constructor"))
(required_parameter [(accessibility_modifier) (override_modifier) "readonly"]
  pattern: (identifier) @name value: (_)? @value) @definition.variable
(optional_parameter [(accessibility_modifier) (override_modifier) "readonly"]
  pattern: (identifier) @name value: (_)? @value) @definition.variable
(_ (accessibility_modifier) @visibility pattern: (identifier) @name)

; ---- what a type that has a name says that objects have; in a function it is local

(interface_body (property_signature name: (property_identifier) @name) @definition.property)
(type_alias_declaration value: (object_type (property_signature name: (property_identifier) @name) @definition.property))
(union_type (object_type (property_signature name: (property_identifier) @name) @definition.property))
(intersection_type (object_type (property_signature name: (property_identifier) @name) @definition.property))
(property_signature type: (type_annotation
  (object_type (property_signature name: (property_identifier) @name) @definition.property)))

; ---- declare, and variables of a namespace

(ambient_declaration (_ name: (_) @name)) @definition
(ambient_declaration (_ . (variable_declarator name: (identifier) @name) .)) @definition.variable
(export_statement (ambient_declaration (_ name: (_) @name))) @definition @exported
(export_statement (ambient_declaration (_ . (variable_declarator name: (identifier) @name) .))) @definition @exported
(internal_module body: (statement_block (lexical_declaration
  . (variable_declarator name: (identifier) @name value: (_)? @value) .) @definition.variable))
(internal_module body: (statement_block (_
  (variable_declarator name: (identifier) @name value: (_)? @value) @definition.variable)))
(ambient_declaration (statement_block (_ (variable_declarator name: (identifier) @name) @definition.variable)))

(export_statement "=" @name) @definition.export
(import_statement (import_require_clause source: (string (string_fragment) @module))) @import
(import_statement (import_require_clause (identifier) @alias)) @import
