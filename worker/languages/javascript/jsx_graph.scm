; Elements of JSX, for the graph: JavaScript knows them, and of the grammars of TypeScript the last.

(jsx_opening_element name: (_) @of) @element
(jsx_self_closing_element name: (_) @of) @element
(jsx_closing_element name: (_) @of) @element @ended
(jsx_attribute . (_) @key (_)? @value) @pair
