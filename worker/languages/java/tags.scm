; Java. What an anonymous class or a constant's body declares belongs to what it stands in.

(package_declaration "package" @visibility [(scoped_identifier) (identifier)] @name ";" @body) @definition.module
(module_declaration "module" @visibility name: (_) @name body: (_) @body) @definition.module

(class_declaration name: (identifier) @name body: (_) @body) @definition.class
(record_declaration name: (identifier) @name body: (_) @body) @definition.class
(interface_declaration name: (identifier) @name body: (_) @body) @definition.interface
(annotation_type_declaration name: (identifier) @name body: (_) @body) @definition.interface
(enum_declaration name: (identifier) @name body: (_) @body) @definition.enum
(enum_declaration "enum" @visibility body: (enum_body (enum_constant name: (identifier) @name body: (_)? @body)
  @definition.constant))
(record_declaration "record" @visibility parameters: (formal_parameters
  (formal_parameter name: (identifier) @name) @definition.property))
(record_declaration "record" @visibility parameters: (formal_parameters
  (spread_parameter (variable_declarator name: (identifier) @name)) @definition.property))

(method_declaration name: (identifier) @name [(block) ";"] @body) @definition.method
(constructor_declaration name: (identifier) @name body: (_) @body) @definition.method
(compact_constructor_declaration name: (identifier) @name body: (_) @body) @definition.method
(annotation_type_element_declaration name: (identifier) @name) @definition.method

; ---- fields: each name of a declaration has all its lines

(field_declaration (modifiers "static" "final")
  declarator: (variable_declarator name: (identifier) @name value: (_)? @value)) @definition.constant
(field_declaration (modifiers "final" "static")
  declarator: (variable_declarator name: (identifier) @name value: (_)? @value)) @definition.constant
(field_declaration declarator: (variable_declarator name: (identifier) @name value: (_)? @value)) @definition.variable
(constant_declaration declarator: (variable_declarator name: (identifier) @name value: (_)? @value))
  @definition.constant

; ---- visibility

(class_declaration (modifiers ["public" "protected" "private"] @visibility) name: (identifier) @name)
(record_declaration (modifiers ["public" "protected" "private"] @visibility) name: (identifier) @name)
(interface_declaration (modifiers ["public" "protected" "private"] @visibility) name: (identifier) @name)
(annotation_type_declaration (modifiers ["public" "protected" "private"] @visibility) name: (identifier) @name)
(enum_declaration (modifiers ["public" "protected" "private"] @visibility) name: (identifier) @name)
(method_declaration (modifiers ["public" "protected" "private"] @visibility) name: (identifier) @name)
(constructor_declaration (modifiers ["public" "protected" "private"] @visibility) name: (identifier) @name)
(compact_constructor_declaration (modifiers ["public" "protected" "private"] @visibility) name: (identifier) @name)
(field_declaration (modifiers ["public" "protected" "private"] @visibility)
  declarator: (variable_declarator name: (identifier) @name))

; ---- imports

(import_declaration . "import" (scoped_identifier scope: (_) @module name: (identifier) @imported) . ";") @import
(import_declaration [(scoped_identifier) (identifier)] @module (asterisk) @imported) @import
(requires_module_directive module: (_) @module) @import

(modifiers [(annotation) (marker_annotation)] @decorator)
(module_declaration [(annotation) (marker_annotation)] @decorator)
(line_comment) @comment
(block_comment) @comment
