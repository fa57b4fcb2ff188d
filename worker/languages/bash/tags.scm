; Bash. Functions, and variables that are read-only or exported where they get their value.

(function_definition name: (word) @name body: (_) @body) @definition.function

(declaration_command "readonly" (variable_assignment name: (variable_name) @name value: (_)? @value)) @definition.constant
(declaration_command ["declare" "typeset"] (word) @_flags
  (variable_assignment name: (variable_name) @name value: (_)? @value)
  (#match? @_flags "^-[A-Za-z]*r")) @definition.constant
(declaration_command "export" (variable_assignment name: (variable_name) @name value: (_)? @value)) @definition.variable
(declaration_command ["declare" "typeset"] (word) @_flags
  (variable_assignment name: (variable_name) @name value: (_)? @value)
  (#match? @_flags "^-[A-Za-z]*x")) @definition.variable

(command name: (command_name (word) @_source) . argument: (_) @module (#any-of? @_source "source" ".")) @import

(comment) @comment
