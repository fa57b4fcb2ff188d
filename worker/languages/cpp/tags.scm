; What only C++ knows.

; ---- functions: constructors, before what they initialize; of a template, defaulted, deleted, pure virtual, friends

(template_declaration (_ declarator: (_) @declarator (field_initializer_list) @body)) @definition.function
(function_definition declarator: (_) @declarator (field_initializer_list) @body) @definition.function
(template_declaration (_ declarator: (_) @declarator body: (_) @body)) @definition.function
(template_declaration (_ declarator: (_) @declarator
  [(default_method_clause) (delete_method_clause) (try_statement)] @body)) @definition.function
(function_definition declarator: (_) @declarator
  [(default_method_clause) (delete_method_clause) (try_statement)] @body) @definition.function
(field_declaration declarator: (_) @declarator . "=" @body . default_value: (number_literal)) @definition.function
(friend_declaration (_ declarator: (_) @declarator body: (_) @body) @definition.function @global)

; ---- classes, enums, concepts, aliases

(template_declaration (_ . "class" name: [(type_identifier) @name (template_type name: (_) @name)] body: (_) @body))
  @definition.class
(template_declaration (_ . "struct" name: [(type_identifier) @name (template_type name: (_) @name)] body: (_) @body))
  @definition.struct
(template_declaration (_ . "union" name: [(type_identifier) @name (template_type name: (_) @name)] body: (_) @body))
  @definition.struct
(class_specifier name: [(type_identifier) @name (template_type name: (_) @name)] body: (_) @body) @definition.class
(template_declaration (_ . "class" name: (qualified_identifier) @declarator body: (_) @body)) @definition.class
(template_declaration (_ . "struct" name: (qualified_identifier) @declarator body: (_) @body)) @definition.struct
(class_specifier name: (qualified_identifier) @declarator body: (_) @body) @definition.class
(function_definition type: (class_specifier !body) declarator: (identifier) @name body: (_) @body) @definition.class
(struct_specifier name: (template_type name: (_) @name) body: (_) @body) @definition.struct
(struct_specifier name: (qualified_identifier) @declarator body: (_) @body) @definition.struct
(union_specifier name: (qualified_identifier) @declarator body: (_) @body) @definition.struct
(enum_specifier name: (qualified_identifier) @declarator body: (_) @body) @definition.enum
(template_declaration (concept_definition name: (_) @name)) @definition.type
(template_declaration (alias_declaration name: (_) @name)) @definition.type
(alias_declaration name: (_) @name) @definition.type

; ---- namespaces, and variables of templates

(namespace_definition name: [(namespace_identifier) (nested_namespace_specifier)] @name body: (_) @body)
  @definition.module
(namespace_alias_definition name: (_) @name) @definition.module
(template_declaration (declaration declarator: (_) @declarator)) @definition.variable

; ---- public: private: protected:

(field_declaration_list (access_specifier) @visibility @definition.access)
