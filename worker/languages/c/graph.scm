; C alone.

(variadic_parameter) @param @rest
(struct_specifier name: (_) @tag)
(union_specifier name: (_) @tag)
(enum_specifier name: (_) @tag)
(struct_specifier name: (_) @of_no_class body: (_))
(union_specifier name: (_) @of_no_class body: (_))
(enum_specifier name: (_) @of_no_class body: (_))
(enumerator name: (_) @of_no_class)

; ---- pointers into arrays

(field_expression argument: (parenthesized_expression (binary_expression left: (_) @arm operator: ["+" "-"] right: (_) @arm)))
(field_expression argument: (parenthesized_expression (update_expression argument: (_) @arm)))
(pointer_expression operator: "*" argument: (parenthesized_expression (binary_expression left: (_) @arm operator: ["+" "-"] right: (_) @arm)))
(pointer_expression operator: "*" argument: (update_expression argument: (_) @arm))
