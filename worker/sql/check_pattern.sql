-- An error where $pattern is no regular expression.
SELECT regexp_matches('', $pattern)
