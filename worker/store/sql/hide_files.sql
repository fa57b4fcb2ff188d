-- Hide files of the base: $numbers, and their $paths.
INSERT INTO image.hidden SELECT unnest($numbers::INTEGER[]), unnest($paths::VARCHAR[])
