-- Hide what the files $paths import.
INSERT INTO image.hidden_imports SELECT unnest($paths::VARCHAR[])
