; Rust, for the graph. docs/graph/reading.md has the captures.

[(line_comment) (block_comment)] @skip
(identifier) @name
(type_identifier) @name
(primitive_type) @name
(field_identifier) @label
(shorthand_field_identifier) @name
(lifetime (identifier) @skip)
(label (identifier) @skip)
(self) @this
[(crate) (super)] @root
(scoped_identifier path: (self) @root)

(attribute_item) @attribute
((attribute_item (attribute (identifier) @_compiled)) @compiled (#eq? @_compiled "cfg"))

; ---- paths

(use_declaration argument: (_) @value) @use
(scoped_use_list path: (_) @of list: (_) @args) @use_under
(scoped_use_list path: (self) @root)
(use_list) @use_under @args
(use_as_clause path: (_) @value alias: (_) @alias) @use_under
(use_wildcard (_) @of) @wildcard
(use_wildcard (self) @root)
(extern_crate_declaration name: (identifier) @value) @use
(extern_crate_declaration name: (identifier) @value alias: (identifier) @alias) @use_under
(mod_item name: (identifier) @module @bind !body) @import
(mod_item name: (identifier) @defined body: (_) @body) @namespace
(scoped_identifier path: (_)? @of name: (_) @key) @get
(scoped_type_identifier path: (_)? @of name: (_) @key) @get

; ---- expressions

(field_expression value: (_) @of field: (_) @key) @get
(call_expression function: (_) @of arguments: (_) @args) @call
(arguments (_) @arg)
(generic_function function: (_) @value) @applied
(struct_expression name: (_) @of body: (_) @args) @new
(field_initializer field: (_) @word value: (_) @value) @keyword
(shorthand_field_initializer (identifier) @word)
(base_field_initializer (_) @value) @keyword
(macro_invocation macro: (_) @of) @call
(token_tree) @tokens
(source_file (macro_invocation) @makes)
(source_file (expression_statement (macro_invocation) @makes))
(mod_item body: (declaration_list (macro_invocation) @makes))
((macro_invocation macro: (identifier) @_included (token_tree . (string_literal) @included .))
  (#eq? @_included "include"))
(macro_definition name: (_) @defined) @function @static
(macro_rule left: (_) @skip right: (_) @body @tokens)
[(string_literal) (raw_string_literal) (char_literal) (boolean_literal) (float_literal)] @text
(integer_literal) @number
(reference_expression value: (_) @value) @await
(unary_expression "*" (_) @value) @await
(unary_expression ["-" "!"]) @operation
(unary_expression . "*" (unary_expression . "*" (self) @points))
(await_expression (_) @value) @await
(try_expression (_) @of) @index
(parenthesized_expression (_) @value) @await
(type_cast_expression value: (_) @value type: (_) @type) @cast
(index_expression . (_) @of (_) @key) @index
(binary_expression) @operation
(range_expression) @operation
(array_expression (_) @arg) @list
(tuple_expression (_) @arg) @tuple
(closure_expression body: (_) @value) @lambda
(closure_expression body: (block) @body)
(closure_parameters (identifier) @param @bind)
(closure_parameters "_" @param @label)
(closure_parameters (parameter pattern: (identifier) @bind type: (_) @type) @param)
(closure_parameters (reference_pattern (identifier) @bind) @param)
(closure_parameters (tuple_pattern) @left @param)

; ---- definitions

(function_item name: (_) @defined body: (_) @body) @function
(function_signature_item name: (_) @defined) @function
(function_item return_type: (_) @returns)
(function_signature_item return_type: (_) @returns)
(parameter pattern: (identifier) @bind type: (_) @type) @param
(parameter pattern: "_" type: (_) @type) @param
(parameter pattern: (mut_pattern (identifier) @bind) type: (_) @type) @param
(parameter pattern: [(tuple_pattern) (tuple_struct_pattern) (struct_pattern) (reference_pattern)] @left type: (_) @type) @param
(self_parameter) @skip
(_ parameters: (parameters (self_parameter . "&" . (lifetime)? . (self)))) @borrows
(_ parameters: (parameters (self_parameter . "&" (mutable_specifier)))) @mutates
(_ parameters: (parameters (self_parameter . (mutable_specifier)? . (self)))) @consumes
(struct_item name: (_) @defined body: (_)? @body) @class
(union_item name: (_) @defined body: (_) @body) @class
(enum_item name: (_) @defined body: (_) @body) @class
(trait_item name: (_) @defined body: (_) @body) @interface
(trait_item bounds: (trait_bounds [(type_identifier) (scoped_type_identifier) (generic_type)] @base))
(impl_item type: (_) @of body: (_) @body) @extension
(impl_item trait: (_) @base)
(enum_variant name: (_) @bind @constant) @field @receiver
(field_declaration name: (_) @bind type: (_) @type) @field
(ordered_field_declaration_list) @payload
(ordered_field_declaration_list type: (_) @type)
(type_item name: (_) @left @bind @constant !type_parameters type: (_) @right) @assign @fresh
(type_item name: (_) @defined type_parameters: (_) type: (_) @value) @type_alias
(associated_type name: (_) @bind !bounds) @field
(associated_type name: (_) @left @bind bounds: (trait_bounds [(type_identifier) (scoped_type_identifier) (generic_type)] @right)) @bound
(const_item name: (_) @left @bind @constant type: (_) @type value: (_)? @right) @assign @fresh
(static_item name: (_) @left @bind @constant type: (_) @type value: (_)? @right) @assign @fresh
(type_parameter name: (_) @label @bind !bounds)
(type_parameter name: (_) @label @bind
  bounds: (trait_bounds . [(removed_trait_bound) (lifetime)] .))
(type_parameter name: (_) @left @bind bounds: (trait_bounds [(type_identifier) (scoped_type_identifier) (generic_type) (function_type) (higher_ranked_trait_bound)] @right)) @bound
((where_predicate left: (type_identifier) @left @bind
    bounds: (trait_bounds [(type_identifier) (scoped_type_identifier) (generic_type) (function_type) (higher_ranked_trait_bound)] @right)) @bound
  (#not-eq? @left "Self"))
(where_predicate left: (scoped_type_identifier) @left @bind
    bounds: (trait_bounds [(type_identifier) (scoped_type_identifier) (generic_type) (function_type) (higher_ranked_trait_bound)] @right)) @bound
(const_parameter name: (_) @label @bind)

; ---- types

(generic_type type: (_) @of) @index
(generic_type_with_turbofish type: (_) @of) @index
(type_arguments [(_type) (_literal) (block) (type_binding)] @key)
(type_binding name: (_) @label)
(type_binding type: (_) @value) @await
(array_type element: (_) @of) @array
(reference_type type: (_) @value) @await
(pointer_type type: (_) @value) @await
(dynamic_type trait: (_) @value) @await
(abstract_type trait: (_) @value) @await
(bounded_type . (_) @value) @await
(higher_ranked_trait_bound type: (_) @value) @await
(removed_trait_bound) @skip
(tuple_type (_) @arg) @tuple
(function_type return_type: (_)? @returns) @signature
(function_type parameters: (parameters
  [(type_identifier) (scoped_type_identifier) (generic_type) (reference_type) (pointer_type) (primitive_type) (tuple_type)
    (unit_type) (array_type) (dynamic_type) (abstract_type) (function_type) (bounded_type) (never_type)] @type @param))
(qualified_type type: (_) @value alias: (_) @type) @qualified

; ---- statements and patterns

(let_declaration pattern: (_) @left type: (_)? @type value: (_)? @right) @assign @fresh
(let_declaration alternative: (_) @otherwise)
(let_condition pattern: (_) @left value: (_) @right) @assign @fresh
(assignment_expression left: (_) @left right: (_) @right) @assign
(compound_assignment_expr) @operation
(let_declaration pattern: (identifier) @bind)
(let_condition pattern: (identifier) @bind)
(for_expression pattern: (identifier) @bind)
(mut_pattern (identifier) @bind)
(ref_pattern (identifier) @bind)
(reference_pattern (identifier) @bind)
(captured_pattern . (identifier) @bind)
(tuple_pattern) @tuple
(tuple_pattern "_" @label)
(tuple_pattern (identifier) @bind)
(slice_pattern (identifier) @bind)
(slice_pattern) @tuple
(remaining_field_pattern) @skip
(tuple_struct_pattern type: (_) @of) @variant
(tuple_struct_pattern "_" @label)
((tuple_struct_pattern type: (_) (identifier) @bind) (#match? @bind "^[a-z_]"))
(struct_pattern type: (_) @of) @shape
(field_pattern name: (shorthand_field_identifier) @bind)
(field_pattern name: (field_identifier) @key) @pair
(field_pattern name: (field_identifier) pattern: (_) @value)
(field_pattern pattern: (identifier) @bind)
(block (let_declaration)) @block
(return_expression (_) @value) @return
(return_expression) @return
(break_expression) @break
(continue_expression) @continue
[(break_expression (label) @label) (continue_expression (label) @label)]
(if_expression condition: (_) @cond consequence: (_) @arm) @branch
(else_clause (_) @arm @otherwise)
(for_expression pattern: (_) @left value: (_) @over body: (_) @body) @loop
(while_expression condition: (_) @cond body: (_) @body) @loop
(loop_expression body: (_) @body) @loop
(match_expression) @match
(match_expression value: (_) @over)
(match_arm value: (_) @body) @case
(match_pattern [(tuple_struct_pattern) (struct_pattern) (tuple_pattern) (ref_pattern) (captured_pattern) (or_pattern)] @left)
((match_pattern (identifier) @left @bind) (#match? @bind "^[a-z_]"))
(match_pattern condition: (_) @cond)
