; What C and C++ have in common. declarator.py finds the name in a declarator, and leaves out the prototypes of functions.

; ---- functions

(function_definition (_ "static" @visibility)? declarator: (_) @declarator body: (_) @body)
  @definition.function

; ---- what is left of the call of a macro with a body

((translation_unit (compound_statement . "{" @name) @definition.call) (#set! name "call"))
((declaration_list (compound_statement . "{" @name) @definition.call) (#set! name "call"))

; ---- structs, unions, enums; those without a name by the typedef that names them

(type_definition type: (struct_specifier !name body: (_) @body @inside) declarator: (type_identifier) @name) @definition.struct
(type_definition type: (struct_specifier !name body: (_) @body @inside) declarator: (parenthesized_declarator (type_identifier) @name)) @definition.struct
(type_definition type: (union_specifier !name body: (_) @body @inside) declarator: (type_identifier) @name) @definition.struct
(type_definition type: (union_specifier !name body: (_) @body @inside) declarator: (parenthesized_declarator (type_identifier) @name)) @definition.struct
(type_definition type: (enum_specifier !name body: (_) @body) declarator: (type_identifier) @name) @definition.enum
(struct_specifier name: (type_identifier) @name body: (_) @body) @definition.struct
(union_specifier name: (type_identifier) @name body: (_) @body) @definition.struct
(function_definition type: [(struct_specifier !body) (union_specifier !body)] declarator: (identifier) @name
  body: (_) @body) @definition.struct ; struct LIB_API Name {
(enum_specifier name: (type_identifier) @name body: (_) @body) @definition.enum
(enumerator name: (_) @name) @definition.constant
(type_definition declarator: (_) @declarator) @definition.type

; ---- fields; those of a struct without a name are of what holds it

(field_declaration declarator: (_) @declarator) @definition.property
(field_declaration type: (_ !name body: (field_declaration_list) @inside) declarator: (_) @declarator)
(declaration type: (_ !name body: (field_declaration_list) @inside) declarator: (_) @declarator)

; ---- variables of the file

(translation_unit (declaration (_ "extern")? @_extern declarator: (_) @declarator
  (#not-eq? @_extern "extern")) @definition.variable)
(preproc_ifdef (declaration (_ "extern")? @_extern declarator: (_) @declarator
  (#not-eq? @_extern "extern")) @definition.variable)
(preproc_if (declaration (_ "extern")? @_extern declarator: (_) @declarator
  (#not-eq? @_extern "extern")) @definition.variable)
(preproc_else (declaration (_ "extern")? @_extern declarator: (_) @declarator
  (#not-eq? @_extern "extern")) @definition.variable)
(preproc_elif (declaration (_ "extern")? @_extern declarator: (_) @declarator
  (#not-eq? @_extern "extern")) @definition.variable)
(declaration_list (declaration (_ "extern")? @_extern declarator: (_) @declarator
  (#not-eq? @_extern "extern")) @definition.variable)

; ---- the preprocessor

(preproc_def name: (_) @name value: (_)? @value) @definition.macro @global
(preproc_function_def name: (_) @name value: (_)? @body) @definition.macro @global
(preproc_include path: (system_lib_string) @module) @import
(preproc_include path: (string_literal (string_content) @module)) @import @relative

(comment) @comment

(compound_statement . "{" . "}") @blank
(_ "=" . (initializer_list . "{" . "}") @blank)
