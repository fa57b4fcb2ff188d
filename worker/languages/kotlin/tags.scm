; Kotlin. An extension belongs to what it stands in, as its fully qualified name does, not to its receiver.

(package_header (qualified_identifier) @name) @definition.module

(class_declaration "interface" name: (identifier) @name (class_body)? @body) @definition.interface
(class_declaration (modifiers (class_modifier "enum")) name: (identifier) @name) @definition.enum
(class_declaration name: (identifier) @name [(class_body) (enum_class_body)]? @body) @definition.class
(object_declaration name: (identifier) @name (class_body)? @body) @definition.class
(companion_object name: (identifier) @name (class_body)? @body) @definition.class
(companion_object "companion" @name !name (class_body)? @body (#set! name "Companion")) @definition.class
(enum_entry . (modifiers)? . (identifier) @name (class_body)? @body) @definition.constant
(class_parameter ["val" "var"] . (identifier) @name) @definition.property

(class_body (function_declaration name: (identifier) @name (function_body)? @body) @definition.method)
(function_declaration name: (identifier) @name (function_body)? @body) @definition.function
(secondary_constructor "constructor" @name (block)? @body) @definition.method
(type_alias type: (identifier) @name) @definition.type

; ---- properties; those of functions and blocks are local

(source_file (_ (modifiers (property_modifier "const")) ["val" "var"] (variable_declaration . (identifier) @name))
  @definition.constant)
(class_body (_ (modifiers (property_modifier "const")) ["val" "var"] (variable_declaration . (identifier) @name))
  @definition.constant)
(source_file (_ ["val" "var"] (variable_declaration . (identifier) @name)
  ("=" . (_) @value)? (property_delegate)? @value [(getter) (setter)]? @body) @definition.property)
(class_body (_ ["val" "var"] (variable_declaration . (identifier) @name)
  ("=" . (_) @value)? (property_delegate)? @value [(getter) (setter)]? @body) @definition.property)
(enum_class_body (_ ["val" "var"] (variable_declaration . (identifier) @name)
  ("=" . (_) @value)? (property_delegate)? @value [(getter) (setter)]? @body) @definition.property)

; ---- what the grammar takes for an expression: an `annotation class` without a body, and the body of a class behind `by`

(infix_expression . (identifier) . (identifier) @_class . (identifier) @name (#eq? @_class "class")) @definition.class
(class_declaration name: (identifier) @name (delegation_specifiers (delegation_specifier
  (explicit_delegation (call_expression (annotated_lambda) @body .))) .))
(explicit_delegation (call_expression (annotated_lambda (lambda_literal
  (property_declaration (variable_declaration . (identifier) @name)) @definition.property))))

; ---- visibility

(class_declaration (modifiers (visibility_modifier) @visibility) name: (identifier) @name)
(object_declaration (modifiers (visibility_modifier) @visibility) name: (identifier) @name)
(companion_object (modifiers (visibility_modifier) @visibility) name: (identifier) @name)
(companion_object (modifiers (visibility_modifier) @visibility) "companion" @name)
(class_parameter (modifiers (visibility_modifier) @visibility) (identifier) @name)
(function_declaration (modifiers (visibility_modifier) @visibility) name: (identifier) @name)
(secondary_constructor (modifiers (visibility_modifier) @visibility) "constructor" @name)
(type_alias (modifiers (visibility_modifier) @visibility) type: (identifier) @name)
(property_declaration (modifiers (visibility_modifier) @visibility) (variable_declaration . (identifier) @name))

; ---- imports

(import (qualified_identifier) @module "*" @imported) @import
(import (qualified_identifier (identifier) @imported .) @module "as" (identifier) @alias) @import
(import (qualified_identifier (identifier) @imported .) @module) @import

(modifiers (annotation) @decorator)
(line_comment) @comment
(block_comment) @comment
(shebang) @comment
