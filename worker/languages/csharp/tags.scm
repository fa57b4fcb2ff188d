; C#.

(namespace_declaration "namespace" @visibility name: (_) @name body: (_) @body) @definition.module
(file_scoped_namespace_declaration "namespace" @visibility name: (_) @name ";" @body) @definition.module

(class_declaration name: (identifier) @name [(declaration_list) ";"] @body) @definition.class
(record_declaration "struct" name: (identifier) @name [(declaration_list) ";"] @body) @definition.struct
(record_declaration name: (identifier) @name [(declaration_list) ";"] @body) @definition.class
(record_declaration "record" @visibility (parameter_list (parameter name: (identifier) @name) @definition.property))
(struct_declaration name: (identifier) @name [(declaration_list) ";"] @body) @definition.struct
(interface_declaration name: (identifier) @name [(declaration_list) ";"] @body) @definition.interface
(enum_declaration name: (identifier) @name body: (_) @body) @definition.enum
(enum_member_declaration name: (identifier) @name) @definition.constant
(delegate_declaration name: (identifier) @name ";" @body) @definition.type

(method_declaration name: (identifier) @name [(block) (arrow_expression_clause) ";"] @body) @definition.method
(constructor_declaration name: (identifier) @name [(block) (arrow_expression_clause) ";"] @body) @definition.method
(destructor_declaration name: (identifier) @name [(block) (arrow_expression_clause) ";"] @body) @definition.method
(operator_declaration operator: _ @name [(block) (arrow_expression_clause) ";"] @body) @definition.method
(conversion_operator_declaration ["implicit" "explicit"] @name [(block) (arrow_expression_clause) ";"] @body)
  @definition.method
(local_function_statement name: (identifier) @name [(block) (arrow_expression_clause) ";"] @body
  (#not-eq? @name "if")) @definition.function

(property_declaration name: (identifier) @name [(accessor_list) (arrow_expression_clause)] @body) @definition.property
(indexer_declaration "this" @name [(accessor_list) (arrow_expression_clause)] @body) @definition.property
(event_declaration name: (identifier) @name (accessor_list)? @body) @definition.property
(event_field_declaration (variable_declaration (variable_declarator name: (identifier) @name))) @definition.property

; ---- fields: each name of a declaration has all its lines

(field_declaration (modifier "const")
  (variable_declaration (variable_declarator name: (identifier) @name ("=" . (_) @value)?))) @definition.constant
(field_declaration (modifier "static") (modifier "readonly")
  (variable_declaration (variable_declarator name: (identifier) @name ("=" . (_) @value)?))) @definition.constant
(field_declaration (modifier "readonly") (modifier "static")
  (variable_declaration (variable_declarator name: (identifier) @name ("=" . (_) @value)?))) @definition.constant
(field_declaration
  (variable_declaration (variable_declarator name: (identifier) @name ("=" . (_) @value)?))) @definition.variable

; ---- visibility. A static constructor has none.

(class_declaration (modifier ["public" "protected" "internal" "private" "file"] @visibility) name: (identifier) @name)
(struct_declaration (modifier ["public" "protected" "internal" "private" "file"] @visibility) name: (identifier) @name)
(record_declaration (modifier ["public" "protected" "internal" "private" "file"] @visibility) name: (identifier) @name)
(interface_declaration (modifier ["public" "protected" "internal" "private" "file"] @visibility) name: (identifier) @name)
(enum_declaration (modifier ["public" "protected" "internal" "private" "file"] @visibility) name: (identifier) @name)
(delegate_declaration (modifier ["public" "protected" "internal" "private" "file"] @visibility) name: (identifier) @name)
(method_declaration (modifier ["public" "protected" "internal" "private" "file"] @visibility) name: (identifier) @name)
(constructor_declaration (modifier ["public" "protected" "internal" "private" "file"] @visibility) name: (identifier) @name)
(operator_declaration (modifier ["public" "protected" "internal" "private" "file"] @visibility) operator: _ @name)
(conversion_operator_declaration (modifier ["public" "protected" "internal" "private" "file"] @visibility)
  ["implicit" "explicit"] @name)
(property_declaration (modifier ["public" "protected" "internal" "private" "file"] @visibility) name: (identifier) @name)
(indexer_declaration (modifier ["public" "protected" "internal" "private" "file"] @visibility) "this" @name)
(event_declaration (modifier ["public" "protected" "internal" "private" "file"] @visibility) name: (identifier) @name)
(event_field_declaration (modifier ["public" "protected" "internal" "private" "file"] @visibility)
  (variable_declaration (variable_declarator name: (identifier) @name)))
(field_declaration (modifier ["public" "protected" "internal" "private" "file"] @visibility)
  (variable_declaration (variable_declarator name: (identifier) @name)))

; ---- imports. An alias may stand for a namespace or a type; what is `using static` is always a type.

(using_directive "static" (qualified_name qualifier: (_) @module name: (_) @imported)) @import
(using_directive name: (identifier) @alias "="
  (qualified_name qualifier: (_) @module name: (generic_name (identifier) @imported))) @import
(using_directive name: (identifier) @alias "="
  [(identifier) (qualified_name name: (identifier)) (alias_qualified_name)] @module) @import
(using_directive !name [(identifier) (qualified_name) (alias_qualified_name)] @module) @import

(attribute_list) @decorator
(comment) @comment
