; What only C++ knows.

(function_definition (storage_class_specifier "static" @visibility)? declarator: (_) @declarator
  [(default_method_clause) (delete_method_clause) (try_statement)]) @definition.function
