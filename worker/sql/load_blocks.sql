-- Blocks of text, one list a column.
INSERT INTO blocks SELECT
    unnest($block::INTEGER[]), unnest($path::VARCHAR[]), unnest($first_line::INTEGER[]), unnest($text::VARCHAR[])
