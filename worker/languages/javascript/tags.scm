; What only the JavaScript grammar knows.

(field_definition property: (_) @name
  value: [(function_expression body: (_) @body) (_ "=>" body: (_) @body)]) @definition.method
(field_definition property: [(property_identifier) (private_property_identifier)] @name value: (_)? @value)
  @definition.variable
(html_comment) @comment
