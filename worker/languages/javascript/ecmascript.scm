; What JavaScript and TypeScript have in common.

; ---- functions and classes

(function_declaration name: (identifier) @name body: (_) @body) @definition.function
(generator_function_declaration name: (identifier) @name body: (_) @body) @definition.function
(class_declaration name: (_) @name body: (_) @body) @definition.class
(method_definition name: (_) @name body: (_) @body) @definition.method
(pair key: (_) @name value: [(function_expression body: (_) @body) (_ "=>" body: (_) @body)])
  @definition.method

; ---- names given to functions and classes: const f = () => {}. The statement counts where it declares nothing else.

(lexical_declaration . (variable_declarator name: (identifier) @name
    value: [(function_expression body: (_) @body) (arrow_function body: (_) @body) (generator_function body: (_) @body)]) .)
  @definition.function
(variable_declaration . (variable_declarator name: (identifier) @name
    value: [(function_expression body: (_) @body) (arrow_function body: (_) @body) (generator_function body: (_) @body)]) .)
  @definition.function
(variable_declarator name: (identifier) @name
    value: [(function_expression body: (_) @body) (arrow_function body: (_) @body) (generator_function body: (_) @body)])
  @definition.function
(lexical_declaration . (variable_declarator name: (identifier) @name value: (class body: (_) @body)) .)
  @definition.class
(variable_declarator name: (identifier) @name value: (class body: (_) @body)) @definition.class

; ---- CommonJS and prototypes: exports.f = function, module.exports = function f (its name is "f"), A.prototype.f =, a.f =, this.f =

(assignment_expression
  left: (_ object: (_) @_exports property: (_) @name)
  right: (_ ["function" "=>"] body: (_) @body)
  (#any-of? @_exports "exports" "module.exports")) @definition.function
(assignment_expression
  left: (_ object: (_) @_exports property: (_) @name)
  right: (_ "=" right: [(function_expression) (arrow_function) (generator_function)]) @value
  (#any-of? @_exports "exports" "module.exports")) @definition.function
(assignment_expression
  left: (_ object: (_) @_exports property: (_) @name)
  right: (_ "=" right: (class)) @value
  (#any-of? @_exports "exports" "module.exports")) @definition.class
(assignment_expression
  left: (_ object: (_) @_exports property: (_) @name)
  right: (_ "class" body: (_) @body)
  (#any-of? @_exports "exports" "module.exports")) @definition.class
(assignment_expression
  left: (_ object: (_) @_exports property: (_) @name) right: (_) @value
  (#any-of? @_exports "exports" "module.exports")) @definition.export

(assignment_expression
  left: (_ object: (identifier) @_module property: (property_identifier) @_exports)
  right: (_ "function" name: (_) @name body: (_) @body)
  (#eq? @_module "module") (#eq? @_exports "exports")) @definition.function
(assignment_expression
  left: (_ object: (identifier) @_module property: (property_identifier) @_exports)
  right: (_ "class" name: (_) @name body: (_) @body)
  (#eq? @_module "module") (#eq? @_exports "exports")) @definition.class
(assignment_expression
  left: (_ object: (identifier) @_module property: (property_identifier) @_exports) @name
  right: (_ ["function" "=>"] !name body: (_) @body)
  (#eq? @_module "module") (#eq? @_exports "exports")) @definition.function
(assignment_expression
  left: (_ object: (identifier) @_module property: (property_identifier) @_exports) @name
  right: (_ "class" !name body: (_) @body)
  (#eq? @_module "module") (#eq? @_exports "exports")) @definition.class
(expression_statement (assignment_expression
  left: (_ object: (identifier) @_module property: (property_identifier) @_exports) @name
  right: (_ !body) @value)
  (#eq? @_module "module") (#eq? @_exports "exports")) @definition.export
(expression_statement (assignment_expression right: (_
  left: (_ object: (identifier) @_module property: (property_identifier) @_exports) @name "="
  right: (_) @value))
  (#eq? @_module "module") (#eq? @_exports "exports")) @definition.export

(assignment_expression left: (_ property: (_) @name) @_left
  right: (_ ["function" "=>"] body: (_) @body)
  (#not-eq? @_left "module.exports")) @definition.method
(assignment_expression left: (_ property: (_) @name) @_left
  right: (_ "=" right: [(function_expression) (arrow_function) (generator_function)]) @value
  (#not-eq? @_left "module.exports")) @definition.method
(assignment_expression
  left: (_ object: (_ object: (_) @parent property: (_) @_prototype) property: (_) @name)
  (#eq? @_prototype "prototype"))
(assignment_expression
  left: (_ object: [(identifier) (member_expression)] @parent property: (_) @name)
  (#not-eq? @parent "exports") (#not-eq? @parent "module.exports"))
(expression_statement (assignment_expression left: (_ property: (_) @name))) @definition
(expression_statement (assignment_expression left: (member_expression) @name)) @definition

; ---- variables of the module; one that holds a function or class matched above

(program (lexical_declaration . (variable_declarator name: (identifier) @name value: (_)? @value) .) @definition.variable)
(program (variable_declaration . (variable_declarator name: (identifier) @name value: (_)? @value) .) @definition.variable)
(program (_ (variable_declarator name: (identifier) @name value: (_)? @value) @definition.variable))
(export_statement (lexical_declaration . (variable_declarator name: (identifier) @name value: (_)? @value) .)
  @definition.variable)
(export_statement (_ (variable_declarator name: (identifier) @name value: (_)? @value) @definition.variable))

; ---- exports

(export_statement declaration: (_ name: (_) @name)) @definition @exported
(export_statement declaration: (_ . (variable_declarator name: (identifier) @name) .)) @definition
(export_statement declaration: (_ (variable_declarator name: (identifier) @name))) @exported
(export_specifier name: _ @name !alias) @definition.export
(export_specifier alias: _ @name) @definition.export
(export_statement "*" @name source: (_)) @definition.export
(export_statement (namespace_export (identifier) @name)) @definition.export
(export_statement "default" @name
  value: (_ ["function" "=>"] body: (_) @body))
  @definition.function @exported
(export_statement "default" @name value: (_ "class" body: (_) @body)) @definition.class @exported
(export_statement "default" @name value: (_) @value) @definition.export

; ---- imports. Names stand before the module, so they are told by their statement.

(import_statement source: (string (string_fragment) @module)) @import
(import_statement (import_clause (identifier) @default)) @import
(import_statement (import_clause (namespace_import "*" @imported (identifier) @alias))) @import
(import_statement (import_clause (named_imports (import_specifier name: _ @imported alias: _? @alias)))) @import
(export_statement source: (string (string_fragment) @module)) @import
(export_statement "*" @imported) @import
(export_statement (namespace_export "*" @imported (identifier) @alias)) @import
(export_statement (export_clause (export_specifier name: _ @imported alias: _? @alias))) @import

(call_expression function: (import) arguments: (_ . (string (string_fragment) @module))) @import
(call_expression function: (identifier) @_require arguments: (_ . (string (string_fragment) @module) .)
  (#eq? @_require "require")) @import
(variable_declarator
  value: (_ function: (identifier) @_require arguments: (_ . (string (string_fragment) @module) .))
  (#eq? @_require "require")) @import
(variable_declarator name: (identifier) @alias value: (call_expression)) @import
(variable_declarator name: (object_pattern (shorthand_property_identifier_pattern) @imported)) @import
(variable_declarator name: (object_pattern (pair_pattern key: (property_identifier) @imported value: (identifier) @alias)))
  @import

(decorator) @decorator
(comment) @comment
(hash_bang_line) @comment
