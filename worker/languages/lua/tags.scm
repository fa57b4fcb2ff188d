; Lua. Functions wherever they get a name, variables of the file, and its module: the table that functions are put into.

; ---- functions: function f(), local function f(), function a.b.f(), function a.b:f()

(function_declaration name: (identifier) @name body: (_)? @body "end" @body) @definition.function
(function_declaration name: (dot_index_expression table: (_) @parent field: (_) @name)
  body: (_)? @body "end" @body) @definition.function
(function_declaration name: (method_index_expression table: (_) @parent method: (_) @name)
  body: (_)? @body "end" @body) @definition.method

; ---- names given to functions: local f = function, a.f = function, a["f"] = function, { f = function }

(variable_declaration (assignment_statement
  (variable_list . name: (identifier) @name .)
  (expression_list . value: (function_definition body: (_)? @body "end" @body)))) @definition.function
(assignment_statement
  (variable_list . name: [
    (identifier) @name
    (dot_index_expression table: [(identifier) (dot_index_expression)] @parent field: (_) @name)
    (bracket_index_expression table: [(identifier) (dot_index_expression)] @parent field: (string content: (_) @name))] .)
  (expression_list . value: (function_definition body: (_)? @body "end" @body))) @definition.function
(field "[" name: (identifier) @name value: (function_definition)) @definition.scope
(field name: [(identifier) @name (string content: (_) @name)]
  value: (function_definition body: (_)? @body "end" @body)) @definition.function
(field name: (identifier) @parent
  value: (table_constructor (field name: [(identifier) @name (string content: (_) @name)])))
(assignment_statement (variable_list . name: (dot_index_expression) @parent .)
  (expression_list . value: (table_constructor (field name: [(identifier) @name (string content: (_) @name)]))))

; ---- variables of the file; a table that functions are put into is a module

(chunk (variable_declaration (assignment_statement
  (variable_list . name: (identifier) @name .) (expression_list . value: (table_constructor) @value))) @definition.namespace)
(chunk (assignment_statement
  (variable_list . name: (identifier) @name .) (expression_list . value: (table_constructor) @value)) @definition.namespace)
(chunk (variable_declaration (assignment_statement
  (variable_list name: (identifier) @name) (expression_list . value: (_) @value))) @definition.variable)
(chunk (assignment_statement
  (variable_list name: (identifier) @name) (expression_list . value: (_) @value)) @definition.variable)

; ---- imports: require "m", require("m").part, local m = require("m")

(function_call name: (identifier) @_require arguments: (arguments . (string content: (_) @module) .)
  (#eq? @_require "require")) @import
(function_call name: (identifier) @_call arguments: (arguments . (identifier) @_require . (string content: (_) @module))
  (#eq? @_call "pcall") (#eq? @_require "require")) @import
(assignment_statement
  (variable_list . name: (identifier) @alias .)
  (expression_list . value: (function_call name: (identifier) @_require
    arguments: (arguments . (string content: (_) @module) .)) .)
  (#eq? @_require "require")) @import

(comment) @comment
(hash_bang_line) @comment
