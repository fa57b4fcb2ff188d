-- The three files or directories that resemble $path = 'src/ap.py', whose last part is $name = 'ap.py'.
SELECT path FROM (
    SELECT path, filename AS name FROM files
    UNION
    SELECT directory || '/', string_split(directory, '/')[-1] FROM files WHERE directory != ''
)
ORDER BY greatest(jaro_winkler_similarity(path, $path), jaro_winkler_similarity(name, $name)) DESC, path
LIMIT 3
