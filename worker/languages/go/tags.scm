; Go (https://go.dev/ref/spec). What stands alone begins with its keyword, in a group with itself.

; ---- functions and methods; those without a body are written in assembly

(function_declaration name: (identifier) @name body: (_)? @body (#not-eq? @name "_")) @definition.function
(method_declaration
  receiver: (parameter_list (parameter_declaration type: [
    (type_identifier) @parent
    (generic_type type: (type_identifier) @parent)
    (pointer_type [(type_identifier) @parent (generic_type type: (type_identifier) @parent)])
    (parenthesized_type [(type_identifier) @parent (pointer_type (type_identifier) @parent)])
    (pointer_type (parenthesized_type (type_identifier) @parent))]))
  name: (field_identifier) @name body: (_)? @body (#not-eq? @name "_")) @definition.method

; ---- types

(type_declaration "(" (type_spec name: (_) @name type: (struct_type (_) @body)) @definition.struct)
(type_declaration "(" (type_spec name: (_) @name type: (interface_type "{" @body)) @definition.interface)
(type_declaration "(" [(type_spec name: (_) @name) (type_alias name: (_) @name)] @definition.type)
(type_declaration (type_spec name: (_) @name type: (struct_type (_) @body))) @definition.struct
(type_declaration (type_spec name: (_) @name type: (interface_type "{" @body))) @definition.interface
(type_declaration [(type_spec name: (_) @name) (type_alias name: (_) @name)]) @definition.type
(type_spec type: (interface_type (method_elem name: (_) @name) @definition.method))

; ---- fields of structs, also of those in fields; those of what a function declares are local

(type_spec type: (struct_type (field_declaration_list (field_declaration name: (_) @name) @definition.property
  (#not-eq? @name "_"))))
(var_spec type: (struct_type (field_declaration_list (field_declaration name: (_) @name) @definition.property
  (#not-eq? @name "_"))))
(field_declaration type: (struct_type (field_declaration_list (field_declaration name: (_) @name) @definition.property
  (#not-eq? @name "_"))))
(_ type: (struct_type (field_declaration_list (field_declaration !name type: [
  (type_identifier) @name
  (qualified_type name: (_) @name)
  (generic_type type: [(type_identifier) @name (qualified_type name: (_) @name)])]) @definition.property)))

; ---- constants and variables of the package

(source_file (const_declaration "(" (const_spec (identifier) @name value: (_) @value) @definition.constant
  (#not-eq? @name "_")))
(source_file (const_declaration "(" (const_spec (identifier) @name) @definition.constant (#not-eq? @name "_")))
(source_file (const_declaration (const_spec (identifier) @name value: (_) @value)
  (#not-eq? @name "_")) @definition.constant)
(source_file (var_declaration (var_spec name: (identifier) @name value: (_)? @value)
  (#not-eq? @name "_")) @definition.variable)
(source_file (var_declaration (var_spec_list (var_spec name: (identifier) @name value: (_)? @value) @definition.variable
  (#not-eq? @name "_"))))

; ---- imports

(import_spec name: [(package_identifier) (blank_identifier)] @alias path: (_ (_) @module)) @import
(import_spec name: (dot) @imported path: (_ (_) @module)) @import
(import_spec path: (_ (_) @module)) @import

(comment) @comment

(block . "{" . "}") @blank
