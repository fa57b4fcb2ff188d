; Scala 2 and 3 (https://docs.scala-lang.org/scala3/reference/syntax.html). An extension method belongs to what it
; stands in.

((package_clause name: (_) @parent) . (package_clause name: (_) @parent) . (package_clause name: (_) @name)
  @definition.module)
((package_clause name: (_) @parent) . (package_clause name: (_) @name) @definition.module)
(package_clause name: (_) @name body: (_)? @body) @definition.module

(class_definition name: (_) @name body: (_)? @body) @definition.class
(trait_definition name: (_) @name body: (_)? @body) @definition.trait
(object_definition name: (_) @name body: (_)? @body) @definition.class
(package_object name: (_) @name body: (_)? @body) @definition.class
(enum_definition name: (_) @name body: (_)? @body) @definition.enum
(simple_enum_case name: (_) @name) @definition.constant
(full_enum_case name: (_) @name) @definition.constant
(class_parameter ["val" "var"] name: (_) @name) @definition.property
(class_definition "case" class_parameters: (class_parameters (class_parameter name: (_) @name) @definition.property))

(function_definition name: (_) @name "=" @body) @definition.function
(function_definition name: (_) @name body: (_) @body) @definition.function
(function_declaration name: (_) @name) @definition.function
(type_definition name: (_) @name) @definition.type
(given_definition name: (_) @name body: (with_template_body) @body) @definition.class
(given_definition name: (_) @name "=" @body) @definition.property

; ---- values; those of functions and blocks are local

(compilation_unit (_ ["val" "var"] pattern: (identifier) @name value: (_) @value) @definition.property)
(template_body (_ ["val" "var"] pattern: (identifier) @name value: (_) @value) @definition.property)
(enum_body (_ ["val" "var"] pattern: (identifier) @name value: (_) @value) @definition.property)
(with_template_body (_ ["val" "var"] pattern: (identifier) @name value: (_) @value) @definition.property)
(template_body (_ ["val" "var"] pattern: (operator_identifier) @name value: (_) @value) @definition.property)
(compilation_unit (_ ["val" "var"] pattern: (identifiers (identifier) @name) value: (_) @value) @definition.property)
(template_body (_ ["val" "var"] pattern: (identifiers (identifier) @name) value: (_) @value) @definition.property)
(template_body (val_definition pattern: (tuple_pattern (identifier) @name) value: (_) @value) @definition.property)
(template_body (val_definition pattern: (case_class_pattern pattern: (identifier) @name) value: (_) @value)
  @definition.property)
(template_body (val_declaration name: (identifier) @name) @definition.property)
(template_body (var_declaration name: (identifier) @name) @definition.property)

; ---- visibility: `private[a]` is that of a package, and `private[this]` is private

(_ (modifiers (access_modifier (access_qualifier "[" @visibility (identifier) @_within (#not-eq? @_within "this"))))
  name: (_) @name)
(_ (modifiers (access_modifier (access_qualifier "[" @visibility (identifier) @_within (#not-eq? @_within "this"))))
  pattern: (identifier) @name)
(_ (modifiers (access_modifier ["private" "protected"] @visibility)) name: (_) @name)
(_ (modifiers (access_modifier ["private" "protected"] @visibility)) pattern: (identifier) @name)

; ---- imports: a module is all of a path but its last name; of one statement may be several

(import_declaration ["import" ","] . (identifier) @module . ("." . (identifier) @module)* . "." .
  (namespace_wildcard) (#set! imported "*")) @import
(import_declaration ["import" ","] . (identifier) @module . ("." . (identifier) @module)* . "." .
  (namespace_selectors (namespace_wildcard)) (#set! imported "*")) @import
(import_declaration ["import" ","] . (identifier) @module . ("." . (identifier) @module)* . "." .
  (namespace_selectors (identifier) @imported)) @import
(import_declaration ["import" ","] . (identifier) @module . ("." . (identifier) @module)* . "." .
  (namespace_selectors (_ name: (identifier) @imported alias: (identifier) @alias))) @import
(import_declaration ["import" ","] . (identifier) @module . ("." . (identifier) @module)* . "." .
  (as_renamed_identifier name: (identifier) @imported alias: (identifier) @alias)) @import
(import_declaration ["import" ","] . (identifier) @module . ("." . (identifier) @module)* . "." .
  (identifier) @imported . ",") @import
(import_declaration ["import" ","] . (identifier) @module . ("." . (identifier) @module)* . "." .
  (identifier) @imported .) @import
(import_declaration ["import" ","] . (identifier) @module . ",") @import
(import_declaration ["import" ","] . (identifier) @module .) @import

(annotation) @decorator
(comment) @comment
(block_comment) @comment
