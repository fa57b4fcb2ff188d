; C alone.

(variadic_parameter) @param @rest
(struct_specifier name: (_) @tag)
(union_specifier name: (_) @tag)
(enum_specifier name: (_) @tag)
(struct_specifier name: (_) @of_no_class body: (_))
(union_specifier name: (_) @of_no_class body: (_))
(enum_specifier name: (_) @of_no_class body: (_))
(enumerator name: (_) @of_no_class)
