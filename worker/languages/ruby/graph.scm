; Ruby, for the graph. docs/graph/reading.md has the captures.

(comment) @skip
(identifier) @name
(constant) @name
(instance_variable) @own_field
[(class_variable) (global_variable)] @await
(self) @this
(super) @super
(hash_key_symbol) @label

; ---- expressions

(scope_resolution scope: (_) @of name: (_) @key) @get
(scope_resolution !scope) @path
(call receiver: (_) @of method: [(identifier) (constant) (operator)] @key) @call
(call receiver: (_) @of !method arguments: (_)) @call
(call !receiver method: [(identifier) (constant)] @key arguments: (_)) @call
(call !receiver method: [(identifier) (constant)] @key block: (_)) @call
(call method: (super) @of) @call
(call arguments: (_) @args)
(call block: (_) @arg @behind)
(argument_list (_) @arg)
(yield (argument_list)? @args) @block_call
(argument_list (splat_argument (_) @value) @spread)
((argument_list (block_argument (_) @value) @await) (#not-match? @value "^:\\w"))
(argument_list (block_argument (simple_symbol) @word) @sent_block)
((call receiver: (identifier) @left method: (identifier) @_is arguments: (argument_list . [(constant) (scope_resolution)] @type .)) @narrow
  (#any-of? @_is "is_a?" "kind_of?" "instance_of?"))
(element_reference object: (_) @of . (_) @key) @index
(conditional condition: (_) @cond consequence: (_) @arm alternative: (_) @arm) @choice
(binary) @operation @computed
(binary left: (_) @arm operator: ["||" "or"] right: (_) @arm) @choice
(binary operator: ["&&" "and"] right: (_) @arm) @choice
(unary) @operation @computed
[(string) (heredoc_body) (regex) (subshell) (simple_symbol) (delimited_symbol) (nil) (true) (false) (float)] @text
(integer) @number
(array) @list
(array (_) @arg)
(hash) @dict
(pair key: (_) @key value: (_)? @value) @pair
(block body: (_)? @body) @lambda
(do_block body: (_)? @body) @lambda
(lambda body: (_ body: (_) @body)) @lambda
(lambda body: (_) @value) @await
(block_parameters (identifier) @param @bind)
(block_parameters (destructured_parameter) @left @param)
(destructured_parameter (identifier) @bind)
(destructured_parameter) @tuple
(lambda_parameters (identifier) @param @bind)

; ---- definitions

(module name: (constant) @defined body: (_)? @body) @interface
(module name: (scope_resolution) @container body: (_)? @body) @interface
(class name: (constant) @defined body: (_)? @body) @class
(class name: (scope_resolution) @container body: (_)? @body) @class
(class superclass: (superclass (_) @base))
((call receiver: [(constant) (scope_resolution)] @_class method: (identifier) @_new block: (_)) @class_made
  (#match? @_class "^(::)?(Class|Data|Module|Struct)$") (#any-of? @_new "new" "define"))
((call receiver: (constant) @_class method: (identifier) @_new arguments: (_ . [(constant) (scope_resolution)] .) !block) @class_made
  (#eq? @_class "Class") (#eq? @_new "new"))
((call receiver: [(constant) (scope_resolution)] @_class method: (identifier) @_new
    arguments: (argument_list (simple_symbol)) !block) @class_made
  (#match? @_class "^(::)?(Data|Struct)$") (#any-of? @_new "new" "define"))
((assignment left: (constant) right: (call receiver: [(constant) (scope_resolution)] method: (identifier) @_new
    block: [(block body: (block_body (method))) (do_block body: (body_statement (method)))
      (do_block body: (body_statement (singleton_method)))]) @class_made)
  (#eq? @_new "new"))
((call !receiver method: (identifier) @_methods !arguments block: (_)) @class_methods
  (#eq? @_methods "class_methods"))
((call method: (identifier) @_mixes arguments: (argument_list [(constant) (scope_resolution)] @base)) @mixin
  (#any-of? @_mixes "include" "prepend"))
((call method: (identifier) @_mixes arguments: (argument_list [(constant) (scope_resolution)] @prepended))
  (#eq? @_mixes "prepend"))
((call method: (identifier) @_extends arguments: (argument_list [(constant) (scope_resolution)] @extended))
  (#eq? @_extends "extend"))
((call method: (identifier) @_sends arguments: (argument_list . (simple_symbol) @_extends [(constant) (scope_resolution)] @extended))
  (#any-of? @_sends "send" "__send__" "public_send") (#eq? @_extends ":extend"))
((call method: (identifier) @_sends arguments: (argument_list . (simple_symbol) @_mixes [(constant) (scope_resolution)] @mixed))
  (#any-of? @_sends "send" "__send__" "public_send") (#any-of? @_mixes ":include" ":prepend"))
((call method: (identifier) @_removes arguments: (argument_list [(simple_symbol) (string)] @replaced))
  (#any-of? @_removes "remove_method" "undef_method"))
((call method: (identifier) @_sends arguments: (argument_list . (simple_symbol) @_removes [(simple_symbol) (string)] @replaced))
  (#any-of? @_sends "send" "__send__" "public_send") (#any-of? @_removes ":remove_method" ":undef_method"))
(undef (_) @replaced)
((call !receiver method: (identifier) @_refines block: (_ body: (_ (method name: (_) @replaced)))) (#eq? @_refines "refine"))
((call receiver: (_) @_of method: (identifier) @_evaluates block: (_ body: (_ (method name: (_) @replaced))))
  (#match? @_of "^(::)?(Array|Hash|Integer|Kernel|Numeric|Object|String|Symbol)$") (#any-of? @_evaluates "class_eval" "class_exec"))
((call receiver: (_) method: (identifier) @_defines arguments: (argument_list . [(simple_symbol) (string)] @replaced))
  (#any-of? @_defines "define_method" "define_singleton_method"))
((call !receiver method: (identifier) @_makes arguments: (argument_list (simple_symbol) @word)) @accessor
  (#any-of? @_makes "attr_accessor" "attr_reader" "attr_writer"))
(alias name: [(identifier) (constant) (operator) (setter) (simple_symbol)] @word
  alias: [(identifier) (constant) (operator) (setter) (simple_symbol)] @word) @method_alias
((call !receiver method: (identifier) @_aliases arguments: (argument_list . (simple_symbol) @word . (simple_symbol) @word .)) @method_alias
  (#eq? @_aliases "alias_method"))
((call !receiver method: (identifier) @_defines arguments: (argument_list . (_) @word)) @method_made
  (#any-of? @_defines "define_method" "define_singleton_method"))
((call receiver: [(array) (string_array) (symbol_array) (hash) (constant) (call receiver: [(array) (string_array) (symbol_array) (hash)] !arguments)]
    method: (identifier) @_each !arguments block: (_)) @listed
  (#any-of? @_each "each" "each_pair" "each_key" "each_with_index" "map"))
((call method: (identifier) @_evaluates arguments: (argument_list . [(string) (heredoc_beginning)])) @evaluated
  (#any-of? @_evaluates "class_eval" "module_eval"))
(singleton_class value: (self) (body_statement)) @singleton
(singleton_class (body_statement [(call block: (_)) (alias)] @static))
((singleton_class (body_statement (call !receiver method: (identifier) @_mixes
    arguments: (argument_list [(constant) (scope_resolution)] @extended)) @static))
  (#any-of? @_mixes "include" "prepend"))
((singleton_class (body_statement (call !receiver method: (identifier) @_aliases) @static))
  (#eq? @_aliases "alias_method"))
(method name: (_) @defined body: (_)? @body) @function
(singleton_method object: (self) name: (_) @defined body: (_)? @body) @function @static
(singleton_method object: [(constant) (scope_resolution)] @receiver_type name: (_) @word body: (_)? @body) @function @static
(singleton_class value: [(constant) (scope_resolution)] @of (body_statement) @body) @extension
(singleton_class (body_statement [(method) @static (call arguments: (argument_list (method) @static))]))
((singleton_class (body_statement [
    (call !receiver method: (identifier) @_makes) @static
    (call arguments: (argument_list (call !receiver method: (identifier) @_makes) @static))]))  ; private attr_reader :a
  (#any-of? @_makes "attr_accessor" "attr_reader" "attr_writer"))
(method_parameters (identifier) @param @bind)
(optional_parameter name: (_) @bind value: (_) @init) @param
(keyword_parameter name: (_) @bind value: (_)? @init) @param
(splat_parameter name: (_) @bind) @param @rest
(hash_splat_parameter name: (_) @bind) @param @rest_words
(block_parameter name: (_) @bind) @param @optional @behind

; ---- what binds

(assignment left: (_) @left right: (_) @right) @assign
(assignment left: (identifier) @bind)
(assignment left: (constant) @bind @constant)
(assignment left: (call receiver: (_) method: (identifier) !arguments !block) @setting)
(left_assignment_list (call receiver: (_) method: (identifier) !arguments !block) @setting)
(left_assignment_list) @tuple
(left_assignment_list (identifier) @bind)
(operator_assignment left: (identifier) @left @bind right: (_) @right) @augment
(operator_assignment left: (constant) @left @bind @constant right: (_) @right) @augment
(operator_assignment left: [(instance_variable) (class_variable) (global_variable) (scope_resolution) (call) (element_reference)] @left right: (_) @right) @augment
(rest_assignment (identifier) @value @bind) @spread

; ---- statements

(return (argument_list (_) @value)) @return
(return) @return
(retry) @raise
(break) @break
[(next) (redo)] @continue
(next (argument_list . (_) @value .))
(if condition: (_) @cond consequence: (_) @arm) @branch
(if alternative: (else) @arm @otherwise)
(elsif condition: (_) @cond consequence: (_) @arm)
(unless condition: (_) @cond consequence: (_) @arm @refuted) @branch
(if_modifier body: (_) @arm condition: (_) @cond) @branch
(unless_modifier body: (_) @arm @refuted condition: (_) @cond) @branch
(while condition: (_) @cond body: (_) @body) @loop
(until condition: (_) @cond body: (_) @body) @loop
(for pattern: (identifier) @left @bind value: (in (_) @over) body: (_) @body) @loop
(case) @match
(case value: (_) @over)
(when body: (_) @body) @case
(when . pattern: (pattern (_) @type) . body: (_))
(case (else) @case)
(case_match) @match
(case_match value: (_) @over)
(case_match else: (else) @case)
(in_clause body: (_) @body) @case
[(array_pattern) (find_pattern) (hash_pattern) (as_pattern) (alternative_pattern)] @pattern
[(in_clause pattern: (identifier) @bind) (match_pattern pattern: (identifier) @bind) (test_pattern pattern: (identifier) @bind)]
(match_pattern) @pattern
(test_pattern) @pattern
[(array_pattern (identifier) @bind) (find_pattern (identifier) @bind) (alternative_pattern (identifier) @bind)]
(array_pattern (splat_parameter name: (identifier) @bind))
(find_pattern (splat_parameter name: (identifier) @bind))
(hash_pattern (hash_splat_parameter name: (identifier) @bind))
(keyword_pattern value: (identifier) @bind)
(keyword_pattern key: (hash_key_symbol) @bind !value)
(keyword_pattern) @pattern
(as_pattern value: [(constant) (scope_resolution)] @type)
(as_pattern name: (identifier) @bind)
(begin) @try
(method body: (body_statement) @try)
(singleton_method body: (body_statement) @try)
(do_block body: (body_statement) @try)
(else) @otherwise
(ensure) @finally
(rescue body: (_) @body) @handler
(rescue exceptions: (exceptions . (_) @type .))
(rescue variable: (exception_variable (identifier) @left @bind))
