; Rust (https://doc.rust-lang.org/reference/items.html).

; ---- visibility: `pub(in path)` by its `in`; what implements a trait is as visible as the trait

[(function_item (visibility_modifier "in" @visibility) name: (_) @name)
 (struct_item (visibility_modifier "in" @visibility) name: (_) @name)
 (enum_item (visibility_modifier "in" @visibility) name: (_) @name)
 (trait_item (visibility_modifier "in" @visibility) name: (_) @name)
 (const_item (visibility_modifier "in" @visibility) name: (_) @name)
 (static_item (visibility_modifier "in" @visibility) name: (_) @name)
 (type_item (visibility_modifier "in" @visibility) name: (_) @name)
 (mod_item (visibility_modifier "in" @visibility) name: (_) @name)
 (field_declaration (visibility_modifier "in" @visibility) name: (_) @name)]
(enum_variant body: (field_declaration_list "{" @visibility (field_declaration name: (_) @name)))
(impl_item trait: (_) "for" @visibility body: (declaration_list [
  (function_item name: (_) @name) (const_item name: (_) @name) (type_item name: (_) @name)]))
((attribute_item (attribute (identifier) @visibility)) . (attribute_item)* . (macro_definition name: (_) @name)
  (#eq? @visibility "macro_export"))

; ---- items

(function_item (visibility_modifier)? @visibility name: (_) @name body: (_) @body) @definition.function
(function_signature_item (visibility_modifier)? @visibility name: (_) @name) @definition.function
(struct_item (visibility_modifier)? @visibility name: (_) @name body: (field_declaration_list)? @body)
  @definition.struct
(union_item (visibility_modifier)? @visibility name: (_) @name body: (_) @body) @definition.struct
(enum_item (visibility_modifier)? @visibility name: (_) @name body: (_) @body) @definition.enum
(enum_variant name: (_) @name) @definition.constant
(field_declaration (visibility_modifier)? @visibility name: (_) @name) @definition.property
(trait_item (visibility_modifier)? @visibility name: (_) @name body: (_) @body) @definition.trait
(type_item (visibility_modifier)? @visibility name: (_) @name) @definition.type
(associated_type name: (_) @name) @definition.type
(const_item (visibility_modifier)? @visibility name: (_) @name value: (_)? @value (#not-eq? @name "_"))
  @definition.constant
(static_item (visibility_modifier)? @visibility name: (_) @name value: (_)? @value) @definition.variable
(mod_item (visibility_modifier)? @visibility name: (_) @name body: (_) @body) @definition.module
(macro_definition name: (_) @name . _ @body) @definition.macro
(impl_item type: [
  (type_identifier) @name
  (generic_type type: (type_identifier) @name)
  (scoped_type_identifier name: (_) @name)
  (generic_type type: (scoped_type_identifier name: (_) @name))]) @definition.scope
(impl_item type: [
  (primitive_type) (reference_type) (pointer_type) (array_type) (tuple_type) (unit_type) (function_type) (never_type)
  (dynamic_type) (abstract_type) (bounded_type) (macro_invocation) (metavariable)] @name) @definition.scope

(attribute_item) @decorator

; ---- imports: `mod m;`, `extern crate c;`, and trees of `use`, whose prefixes stand before what is inside

((attribute_item (attribute (identifier) @_path value: (string_literal (string_content) @imported))) . (attribute_item)* .
  (mod_item name: (_) @module @alias !body) @import @relative (#eq? @_path "path"))
(mod_item name: (_) @module !body) @import @relative
(extern_crate_declaration name: (_) @module alias: (_)? @alias) @import

(use_declaration argument: [(identifier) (crate) (self) (super) (metavariable)] @module) @import
(use_declaration argument: (scoped_identifier !path) @module) @import
(use_declaration argument: (scoped_identifier path: (_) @module name: (_) @imported)) @import
(use_declaration argument: (use_wildcard (_) @module "*" @imported)) @import
(use_declaration argument:
  (use_as_clause path: [(identifier) (crate) (self) (super) (scoped_identifier !path)] @module alias: (_) @alias)) @import
(use_declaration argument:
  (use_as_clause path: (scoped_identifier path: (_) @module name: (_) @imported) alias: (_) @alias)) @import
(use_declaration argument: (use_list [(identifier) (crate) (self) (super)] @module)) @import
(use_declaration argument: (scoped_use_list !path list: (use_list (identifier) @module))) @import

(scoped_use_list path: (_) @prefix list: (_) @within)
(scoped_use_list path: (_) @module list: (use_list [(identifier) (self) (super) (crate)] @imported)) @import
(scoped_use_list path: (_) @module list: (use_list (use_wildcard . "*" @imported))) @import
(scoped_use_list path: (_) @module
  list: (use_list (use_as_clause path: [(identifier) (self)] @imported alias: (_) @alias))) @import
(use_list (scoped_identifier path: (_) @module name: (_) @imported) @import)
(use_list (use_wildcard (_) @module "*" @imported) @import)
(use_list (use_as_clause path: (scoped_identifier path: (_) @module name: (_) @imported) alias: (_) @alias) @import)

(line_comment) @comment
(block_comment) @comment

(block . "{" . "}") @blank
(macro_definition "{" @blank . "}")
(macro_invocation (token_tree . "{" . "}") @blank)
