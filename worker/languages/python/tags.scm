; Python. Statements that bind a name: def, class, type, and assignments outside functions.

(function_definition name: (identifier) @name body: (block) @body) @definition.function
(class_definition name: (identifier) @name body: (block) @body) @definition.class
(decorated_definition definition: (_ name: (identifier) @name)) @definition
(function_definition name: (identifier) @name
  body: (block . (expression_statement . [(string) (concatenated_string) (parenthesized_expression)] @doc .)))
(class_definition name: (identifier) @name
  body: (block . (expression_statement . [(string) (concatenated_string) (parenthesized_expression)] @doc .)))

(type_alias_statement left: (type [(identifier) @name (generic_type . (identifier) @name)]) right: (_) @value)
  @definition.type

; Locals match too; those inside a function are dropped by the rule of nesting.
(expression_statement (assignment left: (identifier) @name right: (_)? @value)) @definition.variable
(assignment right: (assignment left: (identifier) @name right: (_) @value) @definition.variable)
; What stands between in `a = b.c = d = 1` is passed over, so that `d` is no member of `a`.
(assignment right: (assignment
  left: [(attribute) (subscript) (pattern_list) (tuple_pattern) (list_pattern)] @name right: (_) @value) @definition.call)

(import_statement name: (dotted_name) @module) @import
(import_statement name: (aliased_import name: (dotted_name) @module alias: (identifier) @alias)) @import
(import_from_statement module_name: (_) @module name: (dotted_name) @imported) @import
(import_from_statement module_name: (_) @module
  name: (aliased_import name: (dotted_name) @imported alias: (identifier) @alias)) @import
(import_from_statement module_name: (_) @module (wildcard_import) @imported) @import
(future_import_statement "__future__" @module name: (dotted_name) @imported) @import
(future_import_statement "__future__" @module
  name: (aliased_import name: (dotted_name) @imported alias: (identifier) @alias)) @import

(comment) @comment

(function_definition body: (block (expression_statement (tuple . "(" . ")") @blank)))
