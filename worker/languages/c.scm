; What C and C++ have in common. Declarators are followed to the name by declarator.py. Prototypes are no definitions.

(function_definition declarator: (_) @declarator body: (_) @body) @definition.function
(preproc_include path: (system_lib_string) @module) @import
(preproc_include path: (string_literal (string_content) @module)) @import @relative
(comment) @comment
