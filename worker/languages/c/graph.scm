; C alone.

(variadic_parameter) @param @rest
(struct_specifier name: (_) @tag)
(union_specifier name: (_) @tag)
(enum_specifier name: (_) @tag)
