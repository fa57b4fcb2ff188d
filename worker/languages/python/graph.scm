; Python, for the graph. docs/graph/reading.md has the captures.

(comment) @skip
(identifier) @name
(class_pattern . (_) @type) @class_pattern
(keyword_pattern . (identifier) @word) @member_pattern

(attribute object: (_) @of attribute: (identifier) @key) @get
(call function: (_) @of arguments: (argument_list) @args) @call
(call function: (_) @of arguments: (generator_expression) @arg) @call
(argument_list (_) @arg)
(subscript value: (_) @of subscript: (_) @key) @index
(generic_type . (_) @of (type_parameter (type) @key)) @index
(slice) @slice
(keyword_argument name: (identifier) @word value: (_) @value) @keyword
(list_splat (_) @value) @spread
(list_splat_pattern (identifier) @value) @spread
(dictionary_splat (_) @value) @spread_words

(string) @text
((call function: (identifier) @_sets arguments: (argument_list . (_) . (string) @replaced)) (#any-of? @_sets "setattr" "delattr"))
(concatenated_string) @text
(interpolation) @operation
[(integer) (float)] @number
[(true) (false) (none) (ellipsis)] @text
[(list) (set)] @list
(list (_) @arg)
(set (_) @arg)
[(tuple) (expression_list) (pattern_list) (tuple_pattern) (list_pattern)] @tuple
(tuple (_) @arg)
(expression_list (_) @arg)
(pattern_list (_) @arg)
(tuple_pattern (_) @arg)
(list_pattern (_) @arg)
(dictionary) @dict
(pair key: (_) @key value: (_) @value) @pair
[(list_comprehension) (set_comprehension) (generator_expression) (dictionary_comprehension)] @comprehension
(list_comprehension body: (_) @value)
(set_comprehension body: (_) @value)
(generator_expression body: (_) @value)
(dictionary_comprehension body: (_) @value)
(for_in_clause left: (_) @left right: (_) @over) @loop
(conditional_expression . (_) @arm . (_) @cond . (_) @arm) @choice
(boolean_operator left: (_) @arm right: (_) @arm) @choice
[(comparison_operator) (not_operator) (format_specifier) (assert_statement)] @operation
[(binary_operator) (unary_operator)] @operation @computed
(comparison_operator operators: ["<" "<=" "==" "!=" ">=" ">"]) @computed
(comparison_operator operators: ["in" "not in"] . (_) @over)
(binary_operator left: (_) @arm operator: "|" right: (_) @arm) @choice
(union_type (_) @arm) @choice
(binary_operator left: (_) @arm operator: "+" right: (_) @arm) @choice
(await (_) @value) @await
(lambda body: (_) @value) @lambda
(named_expression name: (identifier) @left @bind @hoisted value: (_) @right) @assign

(assignment left: (_) @left type: (_)? @type right: (_)? @right) @assign
(augmented_assignment left: (_) @left right: (_) @right) @augment
(assignment left: (identifier) @bind)
(augmented_assignment left: (identifier) @bind)
(pattern_list (identifier) @bind)
(tuple_pattern (identifier) @bind)
(list_pattern (identifier) @bind)
(list_splat_pattern (identifier) @bind)
(for_statement left: (identifier) @bind)
(for_in_clause left: (identifier) @bind)
(as_pattern_target (identifier) @bind)
(type_alias_statement left: (_) @left right: (_) @right) @assign
(type_alias_statement left: (type (identifier) @bind))
(case_pattern (dotted_name . (identifier) @bind .))
(case_pattern (as_pattern (identifier) @bind .))
(case_pattern (as_pattern (case_pattern (class_pattern)) @type (identifier) @left .)) @handler
(keyword_pattern (dotted_name . (identifier) @bind .))
(splat_pattern (identifier) @bind)

(decorated_definition) @decorated
(decorator (_) @decorator)
(function_definition name: (identifier) @defined return_type: (_)? @returns body: (_) @body) @function
(class_definition name: (identifier) @defined body: (_) @body) @class
(class_definition superclasses: (argument_list (_) @base))
(parameters (identifier) @param @bind)
(lambda_parameters (identifier) @param @bind)
(typed_parameter . (identifier) @bind type: (_) @type) @param
(typed_parameter . (list_splat_pattern (identifier) @bind) @rest type: (_) @type) @param
(typed_parameter . (dictionary_splat_pattern (identifier) @bind) @rest_words type: (_) @type) @param
(default_parameter name: (_) @bind value: (_) @init) @param
(typed_default_parameter name: (_) @bind type: (_) @type value: (_) @init) @param
(parameters (list_splat_pattern (identifier) @bind) @param @rest)
(parameters (dictionary_splat_pattern (identifier) @bind) @param @rest_words)
(lambda_parameters (list_splat_pattern (identifier) @bind) @param @rest)
(lambda_parameters (dictionary_splat_pattern (identifier) @bind) @param @rest_words)
(keyword_separator) @by_name
(function_definition "async" @async)

(return_statement (_) @value) @return
(return_statement) @return
(raise_statement (_) @value) @raise
(raise_statement) @raise
(yield (_) @value) @yield
(yield) @yield
(yield "from" (_) @over)
(break_statement) @break
(continue_statement) @continue
(global_statement (identifier) @outward) @global
(nonlocal_statement (identifier) @outward) @nonlocal
(delete_statement) @delete

(if_statement condition: (_) @cond consequence: (_) @arm) @branch
(if_statement alternative: (elif_clause condition: (_) @cond consequence: (_) @arm))
(if_statement alternative: (else_clause body: (_) @arm @otherwise))
(for_statement left: (_) @left right: (_) @over body: (_) @body) @loop
(for_statement alternative: (_) @otherwise)
[(for_statement "async") (for_in_clause "async")] @async
(while_statement condition: (_) @cond body: (_) @body) @loop
(while_statement alternative: (_) @otherwise)
(try_statement body: (_) @body) @try
(try_statement (else_clause) @otherwise)
(try_statement (finally_clause) @finally)
(except_clause) @handler
(except_clause value: (as_pattern . (_) @type alias: (as_pattern_target (_) @left)))
(except_clause value: (_) @type)
(except_clause (block) @body)
(with_statement body: (_) @body) @with
(with_statement "async" (with_clause (with_item) @async))
((with_statement (with_clause (with_item value: (call function: [
  (identifier) @_suppresses (attribute attribute: (identifier) @_suppresses)])))) @optional (#eq? @_suppresses "suppress"))
(with_item value: (_) @value) @item_with
(with_item value: (as_pattern . (_) @value alias: (as_pattern_target (_) @left))) @item_with
(match_statement) @match
(case_clause consequence: (_) @body) @case

((call function: (identifier) @_isinstance arguments: (argument_list . (identifier) @left . (_) @type .)) @narrow
  (#eq? @_isinstance "isinstance"))

(import_statement name: (dotted_name . (identifier) @bind) @module) @import
(import_statement name: (aliased_import name: (dotted_name) @module alias: (identifier) @alias @bind)) @import
(import_from_statement module_name: (_) @module) @from
(import_from_statement name: (dotted_name (identifier) @imported @bind))
(import_from_statement name: (aliased_import name: (dotted_name (identifier) @imported) alias: (identifier) @alias @bind))
(import_from_statement (wildcard_import) @wildcard)
(future_import_statement) @skip
