; PHP. What an anonymous class declares belongs to what it stands in; variables are no symbols, properties are.

(namespace_definition name: (namespace_name) @name [(compound_statement) ";"] @body) @definition.module

(class_declaration name: (name) @name body: (_) @body) @definition.class
(interface_declaration name: (name) @name body: (_) @body) @definition.interface
(trait_declaration name: (name) @name body: (_) @body) @definition.trait
(enum_declaration name: (name) @name body: (_) @body) @definition.enum
(enum_case name: (name) @name) @definition.constant

(function_definition name: (name) @name body: (_) @body) @definition.function
(method_declaration name: (name) @name [(compound_statement) ";"] @body @inside) @definition.method

; ---- constants and properties: each name of a declaration has all its lines. What a constructor promotes is the class's.

(const_declaration (const_element . (name) @name "=" . (_) @value)) @definition.constant
(expression_statement (_ function: [(name) (qualified_name)] @_define
  arguments: (_ . (argument [(string (string_content) @name) (encapsed_string . (string_content) @name .)])
    . (argument)))
  (#match? @_define "^\\\\?[Dd][Ee][Ff][Ii][Nn][Ee]$")) @definition.constant
(property_declaration (property_element name: (variable_name (name) @name) default_value: (_)? @value))
  @definition.variable
(property_declaration (property_element name: (variable_name (name) @name)) (property_hook_list) @body)
(property_promotion_parameter name: (variable_name (name) @name) default_value: (_)? @value) @definition.variable

(method_declaration (visibility_modifier) @visibility name: (name) @name)
(property_declaration (visibility_modifier) @visibility (property_element name: (variable_name (name) @name)))
(property_promotion_parameter (visibility_modifier) @visibility name: (variable_name (name) @name))
(const_declaration (visibility_modifier) @visibility (const_element . (name) @name))

; ---- imports. The names of a group are all the one module's.

(namespace_use_declaration (namespace_use_clause
  (qualified_name (namespace_name) @module (name) @imported) alias: (name)? @alias)) @import
(namespace_use_declaration (namespace_use_clause
  . [(name) @module (qualified_name . (name) @module)] alias: (name)? @alias)) @import
(namespace_use_declaration (namespace_name) @module body: (namespace_use_group (namespace_use_clause
  . [(name) (qualified_name)] @imported alias: (name)? @alias))) @import

; ---- files: a path as it stands, or behind the directory of this file

(["include" "include_once" "require" "require_once"] @import @relative . [
    (string (string_content) @module)
    (encapsed_string . (string_content) @module .)
    (parenthesized_expression [(string (string_content) @module) (encapsed_string . (string_content) @module .)])
    (_ left: [(name) @_directory (_ function: (name) @_dirname arguments: (_ . (_ (name) @_file) .))]
      operator: "." right: [(string (string_content) @module) (encapsed_string . (string_content) @module .)])
    (parenthesized_expression (_
      left: [(name) @_directory (_ function: (name) @_dirname arguments: (_ . (_ (name) @_file) .))]
      operator: "." right: [(string (string_content) @module) (encapsed_string . (string_content) @module .)]))
  ]
  (#eq? @_directory "__DIR__") (#eq? @_dirname "dirname") (#eq? @_file "__FILE__"))

(attribute_list) @decorator
(comment) @comment
