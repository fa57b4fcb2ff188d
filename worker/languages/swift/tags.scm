; Swift (https://docs.swift.org/swift-book/documentation/the-swift-programming-language/summaryofthegrammar). What an
; extension declares belongs to the type that it extends. Where a pattern begins with "func", or says `_` within a body,
; the query is compiled in a third of the time: of a node that is named, all that may stand in it is gone through.

(class_declaration "struct" name: (type_identifier) @name body: (_) @body) @definition.struct
(class_declaration "enum" name: (type_identifier) @name body: (_) @body) @definition.enum
(class_declaration ["class" "actor"] name: (type_identifier) @name body: (_) @body) @definition.class
(class_declaration "extension" name: (user_type . (type_identifier) @name . (type_arguments)) body: (_) @body) @definition.scope
(class_declaration "extension" name: (user_type) @name body: (_) @body) @definition.scope
(protocol_declaration name: (type_identifier) @name body: (_) @body) @definition.interface
(enum_entry name: (simple_identifier) @name) @definition.constant
(typealias_declaration name: (type_identifier) @name) @definition.type
(associatedtype_declaration name: (type_identifier) @name) @definition.type
(macro_declaration "macro" . (simple_identifier) @name definition: (_)? @body) @definition.macro

(function_declaration "func" . name: _ @name) @definition.function
("func" . name: _ @name (function_body) @body)
(protocol_function_declaration "func" . name: _ @name body: (_)? @body) @definition.method
(init_declaration name: "init" @name body: (_)? @body) @definition.method
(deinit_declaration "deinit" @name body: (_) @body) @definition.method
(subscript_declaration "subscript" @name (computed_property)? @body) @definition.method

; ---- properties; those of functions and blocks are local

(source_file (_ (value_binding_pattern "let") name: (pattern bound_identifier: (simple_identifier) @name)
  value: (_)? @value) @definition.constant)
(source_file (_ name: (pattern bound_identifier: (simple_identifier) @name)
  value: (_)? @value computed_value: (_)? @body) @definition.variable)
(source_file (_ name: (pattern (pattern (simple_identifier) @name))) @definition.variable)
(class_body (_ (modifiers (property_modifier ["static" "class"])) (value_binding_pattern "let")
  name: (pattern bound_identifier: (simple_identifier) @name) value: (_)? @value) @definition.constant)
(class_body (_ name: (pattern bound_identifier: (simple_identifier) @name)
  value: (_)? @value computed_value: (_)? @body) @definition.property)
(class_body (_ name: (pattern (pattern (simple_identifier) @name))) @definition.property)
(enum_class_body (_ (modifiers (property_modifier ["static" "class"])) (value_binding_pattern "let")
  name: (pattern bound_identifier: (simple_identifier) @name) value: (_)? @value) @definition.constant)
(enum_class_body (_ name: (pattern bound_identifier: (simple_identifier) @name)
  value: (_)? @value computed_value: (_)? @body) @definition.property)
(protocol_property_declaration name: (pattern bound_identifier: (simple_identifier) @name)
  (protocol_property_requirements) @body) @definition.property

; ---- visibility

(class_declaration (modifiers (visibility_modifier) @visibility) name: (type_identifier) @name)
(class_declaration (modifiers (visibility_modifier) @visibility) "extension" name: (user_type) @name)
(class_declaration (modifiers (visibility_modifier) @visibility)
  body: (enum_class_body (enum_entry name: (simple_identifier) @name)))
(protocol_declaration (modifiers (visibility_modifier) @visibility) name: (type_identifier) @name)
(typealias_declaration (modifiers (visibility_modifier) @visibility) name: (type_identifier) @name)
(macro_declaration (modifiers (visibility_modifier) @visibility) "macro" . (simple_identifier) @name)
((modifiers (visibility_modifier) @visibility) "func" . name: _ @name)
(init_declaration (modifiers (visibility_modifier) @visibility) name: "init" @name)
(subscript_declaration (modifiers (visibility_modifier) @visibility) "subscript" @name)
(property_declaration (modifiers (visibility_modifier) @visibility)
  name: (pattern bound_identifier: (simple_identifier) @name))

; ---- imports

(import_declaration ["struct" "class" "enum" "protocol" "func" "let" "var" "typealias"]
  (identifier (simple_identifier) @imported .) @module) @import
(import_declaration (identifier) @module) @import

(modifiers (attribute) @decorator)
(comment) @comment
(multiline_comment) @comment
