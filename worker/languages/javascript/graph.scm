; JavaScript alone.

(formal_parameters (identifier) @param @bind)
(formal_parameters (assignment_pattern left: (identifier) @bind right: (_) @init) @param)
(formal_parameters (assignment_pattern left: [(object_pattern) (array_pattern)] @left right: (_) @init) @param)
(formal_parameters (rest_pattern (identifier) @bind) @param @rest)
(formal_parameters (object_pattern) @param)
(formal_parameters (array_pattern) @param)
(class_heritage (_) @base)
(field_definition property: (_) @bind value: (_)? @value) @field
(field_definition "static" @static)
