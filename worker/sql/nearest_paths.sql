-- The three paths that resemble $path = 'src/ap.py', whose last part is $name = 'ap.py'.
SELECT path FROM files
ORDER BY
    greatest(jaro_winkler_similarity(path, $path), jaro_winkler_similarity(filename, $name)) DESC, path
LIMIT 3
