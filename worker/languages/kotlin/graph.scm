; Kotlin, for the graph. docs/graph/reading.md has the captures.

[(line_comment) (block_comment)] @skip
(identifier) @name
(package_header (qualified_identifier) @value) @package
(import (qualified_identifier) @value (identifier)? @alias) @use_under
(import (qualified_identifier) @of "*") @use @wildcard
(label) @skip

; ---- expressions

((navigation_expression . (_) @of (identifier) @key .) @get (#not-eq? @key "class"))
((navigation_expression . (_) @value "::" (identifier) @skip .) @class_of (#eq? @skip "class"))
(call_expression . (_) @of) @call
(call_expression (value_arguments) @args)
(call_expression (annotated_lambda) @arg @behind)
((call_expression (identifier) @_asserts (value_arguments . (value_argument (_) @cond))) @asserts (#any-of? @_asserts "assert" "check" "require"))
(value_arguments (value_argument) @arg)
(value_argument (identifier) @word "=" (_) @value) @keyword
(spread_expression (_) @value) @spread
(infix_expression . (_) @of . (identifier) @key . (_) @arg) @call
(index_expression . (_) @of . (_) @key) @index
((navigation_expression . (_) @of "::" (identifier) @key .) @reference (#not-eq? @key "class"))
(callable_reference (_) @of . (identifier) @key) @reference
(callable_reference . (identifier) @value .) @reference
(unary_expression ["!!" "++" "--"]) @await
(unary_expression ["!" "-" "+"]) @operation
(unary_expression argument: (_) @value)
(as_expression left: (_) @value right: (_) @type) @cast
(is_expression left: (_) @left right: (_) @type) @narrow
(is_expression "!is") @refuted
[(binary_expression) (in_expression)] @operation
(in_expression right: (_) @over)
(binary_expression left: (binary_expression left: (_) operator: "<" right: (identifier)) @of @applied operator: ">" right: [(parenthesized_expression (_) @arg) (lambda_literal) @arg]) @call
(binary_expression left: (_) @arm operator: "?:" right: (_) @arm) @choice
(binary_expression operator: ["&&" "||"] right: (_) @arm) @choice
(binary_expression left: (_) @arm operator: ["+" "-" "*" "/" "%"] right: (_) @arm) @sum
[(string_literal) (multiline_string_literal) (character_literal)] @text
[(number_literal) (float_literal)] @number
(this_expression) @this
(this_expression (identifier) @type)
(super_expression) @super
(lambda_literal) @lambda
(lambda_parameters (variable_declaration (identifier) @bind) @param)
(lambda_parameters (multi_variable_declaration) @left @param)
(anonymous_function (function_body) @body) @lambda
(object_literal (class_body) @class) @new
(object_literal (delegation_specifiers . (delegation_specifier (constructor_invocation . (user_type) @of (value_arguments) @args))))
(object_literal (delegation_specifiers . (delegation_specifier . (user_type) @of)))
(object_literal (delegation_specifiers . (delegation_specifier (explicit_delegation . (user_type) @of @hands_on))))
(object_literal (delegation_specifiers (delegation_specifier [(user_type) @base (constructor_invocation . (user_type) @base) (explicit_delegation . (user_type) @base @hands_on)])))

; ---- definitions

(function_declaration name: (identifier) @defined (function_body)? @body) @function
(function_declaration (modifiers (member_modifier "override" @overrides)))
(function_declaration (modifiers (visibility_modifier "private" @hidden)))
((function_declaration (modifiers (annotation "@" @withdrawn (constructor_invocation (value_arguments (value_argument (navigation_expression) @_level))))))
 (#eq? @_level "DeprecationLevel.HIDDEN"))
(function_declaration (function_value_parameters) . [(user_type) (nullable_type) (function_type)] @returns)
(function_declaration [(user_type) (nullable_type)] @receiver_type . name: (identifier))
(function_value_parameters (parameter (identifier) @bind . (_) @type) @param)
(function_value_parameters (parameter) @optional . "=" . (_) @init)
((parameter_modifiers (parameter_modifier) @_vararg) . (parameter) @rest (#eq? @_vararg "vararg"))
(parameter_modifiers) @skip
([(function_declaration (function_body "=" . (_) @value) @return) (anonymous_function (function_body "=" . (_) @value) @return)])
(secondary_constructor) @function
(secondary_constructor [(constructor_delegation_call) (block)] @body)
(constructor_delegation_call (value_arguments) @block @single)
([(class_declaration (delegation_specifiers (delegation_specifier (constructor_invocation (value_arguments) @block @head))))
  (object_declaration (delegation_specifiers (delegation_specifier (constructor_invocation (value_arguments) @block @head @static))))
  (companion_object (delegation_specifiers (delegation_specifier (constructor_invocation (value_arguments) @block @head @static))))])
([(class_declaration (delegation_specifiers (delegation_specifier (explicit_delegation (_) "by" (_) @block @head))))
  (object_declaration (delegation_specifiers (delegation_specifier (explicit_delegation (_) "by" (_) @block @head @static))))
  (companion_object (delegation_specifiers (delegation_specifier (explicit_delegation (_) "by" (_) @block @head @static))))])
(class_parameter "=" . (_) @block @head)
(class_parameter "=" . (lambda_literal) @value)
(enum_entry (value_arguments) @block @single)
(anonymous_initializer (block) @body) @function
(secondary_constructor (function_value_parameters (parameter (identifier) @bind . (_) @type) @param))
;   context(a: A) fun f(), as worker/languages/kotlin/contexts.py spells it
((annotation (user_type (identifier) @skip (type_arguments))) (#any-of? @skip "_cx__" "_rx__"))
((function_declaration (modifiers (annotation "@" @implicit (user_type (identifier) @_rx)))) (#eq? @_rx "_rx__"))
((function_declaration (modifiers (annotation (user_type (identifier) @_cx (type_arguments (type_projection [
   (user_type (type_modifiers (annotation (user_type (identifier) @left @bind))) (identifier) @type . (type_arguments)? .) @assign @fresh
   (nullable_type (user_type (type_modifiers (annotation (user_type (identifier) @left @bind))) (identifier) @type . (type_arguments)? .) @assign @fresh)
 ])))))) (#eq? @_cx "_cx__"))
(class_declaration "class" name: (identifier) @defined [(class_body) (enum_class_body)]? @body) @class
(class_declaration "interface" name: (identifier) @defined (class_body)? @body) @interface
(object_declaration name: (identifier) @defined (class_body)? @body) @class
(class_parameter (identifier) @bind @of_objects . (_) @type) @field
(class_declaration (delegation_specifiers (delegation_specifier (constructor_invocation . (user_type) @base))))
(class_declaration (delegation_specifiers (delegation_specifier . (user_type) @base)))
(object_declaration (delegation_specifiers (delegation_specifier (constructor_invocation . (user_type) @base))))
(object_declaration (delegation_specifiers (delegation_specifier . (user_type) @base)))
(class_declaration (delegation_specifiers (delegation_specifier (explicit_delegation . (user_type) @base))))
(object_declaration (delegation_specifiers (delegation_specifier (explicit_delegation . (user_type) @base))))
(companion_object (delegation_specifiers (delegation_specifier [(user_type) @base @static (constructor_invocation . (user_type) @base @static) (explicit_delegation . (user_type) @base @static)])))
(class_declaration (modifiers (class_modifier "data" @derives)))
(class_declaration (primary_constructor) @constructor)
([(class_declaration (delegation_specifiers (delegation_specifier (explicit_delegation "by" @hands_on))))
  (object_declaration (delegation_specifiers (delegation_specifier (explicit_delegation "by" @hands_on))))
  (companion_object (delegation_specifiers (delegation_specifier (explicit_delegation . (user_type) @hands_on))))])
;   as worker/languages/kotlin/delegations.py spells it
([(class_declaration (delegation_specifiers (delegation_specifier (constructor_invocation (value_arguments) @hands_on @_handed))))
  (object_declaration (delegation_specifiers (delegation_specifier (constructor_invocation (value_arguments) @hands_on @_handed))))
  (companion_object (delegation_specifiers (delegation_specifier (constructor_invocation . (user_type) @hands_on (value_arguments) @_handed))))
  (object_literal (delegation_specifiers (delegation_specifier (constructor_invocation . (user_type) @hands_on (value_arguments) @_handed))))]
 (#match? @_handed "^[(]   "))
(class_declaration (modifiers [(class_modifier "sealed" @abstract) (inheritance_modifier "abstract" @abstract)]))
(object_declaration "object" @abstract @single)
(object_declaration (class_body (function_declaration) @single))
(companion_object (class_body (function_declaration) @single))
(companion_object (class_body (property_declaration ["val" "var"] . [(variable_declaration) (multi_variable_declaration)]) @single))
(class_declaration (modifiers (class_modifier "inner" @inner)))
([(class_declaration (class_body (property_declaration (variable_declaration (identifier) @of_objects))))
  (class_declaration (enum_class_body (property_declaration (variable_declaration (identifier) @of_objects))))])
(enum_entry . (identifier) @bind) @field @receiver
(type_parameter (identifier) @label .)
([(class_declaration (type_parameters (type_parameter (identifier) @bind .))) (function_declaration (type_parameters (type_parameter (identifier) @bind .)))
  (property_declaration (type_parameters (type_parameter (identifier) @bind .))) (type_alias (type_parameters (type_parameter (identifier) @bind .)))])
([(class_declaration (type_parameters (type_parameter (identifier) @left @bind . [(user_type) (nullable_type)] @right) @bound))
  (function_declaration (type_parameters (type_parameter (identifier) @left @bind . [(user_type) (nullable_type)] @right) @bound))
  (property_declaration (type_parameters (type_parameter (identifier) @left @bind . [(user_type) (nullable_type)] @right) @bound))])
(type_constraint . (identifier) @left @bind [(user_type) (nullable_type)] @right .) @bound
(type_alias type: (identifier) @left @bind "=" . (_) @right) @assign @fresh
(property_declaration ["val" "var"] . [(variable_declaration) (multi_variable_declaration)]) @assign @fresh
(property_declaration ["val" "var"] . (variable_declaration (identifier) @left @bind))
(property_declaration ["val" "var"] . (variable_declaration (identifier) . (_) @type))
(property_declaration (multi_variable_declaration) @left)
(property_declaration "=" . (_) @right)
(property_declaration ["val" "var"] . (variable_declaration) (property_delegate (_) @value) @otherwise @delegate)
(property_declaration "var" . (variable_declaration) (property_delegate) @setter)
(property_declaration ["val" "var"] . (variable_declaration) [(getter) (setter)] @otherwise)
;   set(value) { }
(property_declaration ["val" "var"] . (variable_declaration) (setter (identifier) @bind @param (function_body) @body) @function)
;   val A.b get() = c
(property_declaration [(user_type) (nullable_type)] @receiver_type . (variable_declaration (identifier) @defined)) @function @property
(property_declaration [(user_type) (nullable_type)] . (variable_declaration (identifier) . (_) @returns))
(property_declaration [(user_type) (nullable_type)] . (variable_declaration) [(getter (function_body) @body) (setter (function_body) @body)])
(property_declaration [(user_type) (nullable_type)] . (variable_declaration) (getter (function_body "=" . (_) @value) @return))
(property_declaration [(user_type) (nullable_type)] . (variable_declaration) (setter (identifier) @bind @param))
(property_declaration [(user_type) (nullable_type)] . (variable_declaration) (property_delegate (_) @value) @return @body)
(property_declaration (modifiers (member_modifier "override" @overrides)) [(user_type) (nullable_type)] . (variable_declaration))
(property_declaration (modifiers (visibility_modifier "private" @hidden)) [(user_type) (nullable_type)] . (variable_declaration))
([(object_declaration (class_body (property_declaration [(user_type) (nullable_type)] . (variable_declaration)) @single))
  (companion_object (class_body (property_declaration [(user_type) (nullable_type)] . (variable_declaration)) @single))])
(multi_variable_declaration) @tuple
(multi_variable_declaration (variable_declaration . (identifier) @bind))
(assignment left: (_) @left "=" right: (_) @right) @assign
(assignment left: (_) @left ["+=" "-=" "*=" "/=" "%="] right: (_) @right) @augment

; ---- types

(user_type . (identifier) @of . (type_arguments)) @index
(user_type . (identifier) @of . (identifier) @key .) @get
(user_type . (identifier) @of . (identifier) @key . (type_arguments) .) @get
(type_arguments (type_projection . (_) @type .))
(type_arguments (type_projection (variance_modifier "out") (_) @type .))
(type_arguments (type_projection (variance_modifier "in") (_) @arm .) @type @choice)
(nullable_type (_) @value) @await
(function_type (_) @returns .) @signature
(function_type . (user_type) @receiver_type . (function_type_parameters))
(function_type_parameters [(user_type) (nullable_type) (function_type) (parenthesized_type)] @type @param)
(function_type_parameters (parameter (identifier) @bind . (_) @type) @param)

; ---- statements

(return_expression (_) @value .) @return
(return_expression label: (identifier) @label @word)
(return_expression) @return
(throw_expression) @raise
(block (property_declaration)) @block
(if_expression condition: (_) @cond . (_) @arm) @branch
(if_expression "else" . (_) @arm @otherwise)
(for_statement [(variable_declaration (identifier) @bind) (multi_variable_declaration)] @left . (_) @over . (_) @body) @loop
(while_statement condition: (_) @cond (_) @body .) @loop
(do_while_statement condition: (_) @cond) @loop
(try_expression . (block) @body) @try
(try_expression (finally_block) @finally)
(catch_block (identifier) @left @bind . (_) @type (block) @body) @handler
(when_expression) @match
(when_subject (_) @over)
(when_entry (_) @body .) @case
(when_entry "->" . (_) @body)
(when_entry condition: (type_test (_) @type))
((identifier) @break (#eq? @break "break"))
((identifier) @continue (#eq? @continue "continue"))
((labeled_expression (identifier) @_leaves) @break (#eq? @_leaves "break"))
((labeled_expression (identifier) @_leaves) @continue (#eq? @_leaves "continue"))
