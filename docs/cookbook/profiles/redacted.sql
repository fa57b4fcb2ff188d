-- redacted: everything, with stars in place of the text behind what is called a password, secret, token or key.

SET extends = 'fledgling-core';
CREATE VIEW content AS
SELECT * REPLACE (regexp_replace(line_text,
  '(?i)((?:passwd|password|secret|token|api_?key)\w*["''`]?[^"''`]*["''`]+)[^"''`]*', '\1***', 'g') AS line_text)
FROM content;
CREATE VIEW symbols AS  -- a signature repeats lines, and so does a docstring: a view of content changes neither
SELECT * REPLACE (NULL AS docstring, regexp_replace(signature,
  '(?i)((?:passwd|password|secret|token|api_?key)\w*["''`]?[^"''`]*["''`]+)[^"''`]*', '\1***', 'g') AS signature)
FROM symbols;
