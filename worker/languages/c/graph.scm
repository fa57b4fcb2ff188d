; C alone.

(variadic_parameter) @param @rest
