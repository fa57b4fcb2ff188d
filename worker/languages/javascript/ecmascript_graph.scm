; What JavaScript and TypeScript have in common, for the graph. docs/graph/reading.md has the captures.

(comment) @skip
(hash_bang_line) @skip
(identifier) @name
(shorthand_property_identifier) @name
(property_identifier) @label
(private_property_identifier) @label
(statement_identifier) @label

; ---- expressions

(member_expression object: (_) @of property: (_) @key) @get
(call_expression function: (_) @of arguments: (_) @args) @call
(new_expression constructor: (_) @of arguments: (arguments)? @args) @new
(arguments (_) @arg)
(spread_element (_) @value) @spread
(subscript_expression object: (_) @of index: (_) @key) @index
(this) @this
(super) @super
(string) @text
(template_string) @text
(template_substitution) @operation
(number) @number
(array) @list
(array (_) @arg)
(object) @dict
(object (spread_element) @spread_words)
(pair key: (_) @key value: (_) @value) @pair
(object (method_definition name: (_) @word))
(ternary_expression condition: (_) @cond consequence: (_) @arm alternative: (_) @arm) @choice
(binary_expression) @operation
(binary_expression left: (_) @arm operator: ["||" "??"] right: (_) @arm) @choice
(binary_expression operator: "&&" right: (_) @arm) @choice
(binary_expression left: (identifier) @left operator: "instanceof" right: (_) @type) @narrow
(unary_expression) @operation
(update_expression) @operation
(sequence_expression) @operation
(await_expression (_) @value) @await
(yield_expression (_) @value) @yield
(yield_expression "*" (_) @over)
(parenthesized_expression (sequence_expression))

((call_expression function: (identifier) @_require arguments: (arguments . (string) @module .)) @require
  (#eq? @_require "require"))
(call_expression function: (import) arguments: (arguments . (string) @module .)) @require

((call_expression function: (member_expression property: (_) @_defines) arguments: (arguments . (_) . (string) @replaced))
  (#any-of? @_defines "defineProperty" "deleteProperty"))
((call_expression function: (member_expression object: (identifier) @_reflect property: (property_identifier) @_sets)
  arguments: (arguments . (_) . (string) @replaced)) (#eq? @_reflect "Reflect") (#eq? @_sets "set"))
((call_expression function: (member_expression property: (_) @_defines) arguments: (arguments . (_) . (object (pair key: (_) @replaced))))
  (#eq? @_defines "defineProperties"))
(unary_expression operator: "delete" argument: (member_expression property: (_) @replaced))
(unary_expression operator: "delete" argument: (subscript_expression index: (string) @replaced))

; ---- functions and classes

(function_declaration name: (identifier) @defined body: (_) @body) @function
(generator_function_declaration name: (identifier) @defined body: (_) @body) @function
(function_expression name: (identifier)? @word body: (_) @body) @function
(generator_function name: (identifier)? @word body: (_) @body) @function
(arrow_function body: (_) @value) @lambda
(arrow_function body: (statement_block) @body)
(arrow_function parameter: (identifier) @param @bind)
(class_body (method_definition name: (_) @defined body: (_) @body) @function)
(object (method_definition body: (_) @body) @function)
(method_definition "get" @property)
(method_definition "set" @setter)
(method_definition "static" @static)
(class_static_block body: (_) @body) @function @static
(class_declaration name: (_) @defined body: (_) @body) @class
(class name: (_)? @word body: (_) @body) @class

; ---- what binds

(variable_declarator name: (_) @left value: (_)? @right) @assign
(variable_declarator name: (identifier) @bind)
(variable_declaration (variable_declarator name: (identifier) @hoisted))
(assignment_expression left: (_) @left right: (_) @right) @assign
(assignment_expression left: [(array_pattern) (object_pattern)] @existing)
(for_in_statement !kind left: [(array_pattern) (object_pattern)] @existing)
(augmented_assignment_expression left: (_) @left right: (_) @right) @augment
(object_pattern) @shape
(object_pattern (shorthand_property_identifier_pattern) @name @bind)
(object_assignment_pattern left: (shorthand_property_identifier_pattern) @name @bind @left right: (_) @right) @assign
(pair_pattern key: (_) @key value: (_) @value) @pair
(pair_pattern value: (identifier) @bind)
(assignment_pattern left: (_) @left right: (_) @right) @assign
(assignment_pattern left: (identifier) @bind)
(array_pattern) @tuple
(array_pattern (identifier) @bind)
(rest_pattern (_) @value) @spread
(rest_pattern (identifier) @bind)

; ---- statements

; A block with a name of its own is one (reduced.py): a capture of the block that waits for such a name holds up all others.
(statement_block) @bare_block
(statement_block (lexical_declaration (variable_declarator) @of_block))
(statement_block (class_declaration) @of_block)
(return_statement (_) @value) @return
(return_statement) @return
(throw_statement) @raise
(break_statement) @break
(continue_statement) @continue
(labeled_statement body: (_) @body) @labelled
(with_statement body: (_) @body) @within
(if_statement condition: (_) @cond consequence: (_) @arm) @branch
(else_clause (_) @arm @otherwise)
(for_statement body: (_) @body) @loop
(for_statement initializer: (lexical_declaration)) @block
(for_in_statement kind: ["let" "const"]) @block
(for_in_statement left: (_) @left operator: "of" right: (_) @over body: (_) @body) @loop
(for_in_statement left: (_) @left operator: "in" right: (_) body: (_) @body) @loop
(for_in_statement kind: _ left: (identifier) @bind)
(while_statement condition: (_) @cond body: (_) @body) @loop
(do_statement body: (_) @body condition: (_) @cond) @loop
(try_statement body: (_) @body) @try
(try_statement finalizer: (_) @finally)
(catch_clause body: (_) @body) @handler
(catch_clause parameter: (_)) @block
(catch_clause parameter: (_) @left)
(catch_clause parameter: (identifier) @bind)
(switch_statement) @match @until_break
(switch_case) @case
(switch_default) @case
(switch_case body: (_) @body)
(switch_default body: (_) @body)

; ---- modules

(import_statement source: (string) @module) @imports
(import_clause (identifier) @default @bind)
(namespace_import (identifier) @wildcard @bind)
(import_specifier name: _ @imported alias: (identifier) @alias @bind)
(import_specifier name: (identifier) @imported @bind !alias)
(export_statement) @export
(export_statement "default" @exported)
(export_statement source: (string) @module)
(export_specifier name: _ @imported alias: _? @alias)
(namespace_export (_) @wildcard)
