-- As importers_of.sql, with packages. Who imports a whole one names its first file, and means all of its files: those of one
-- directory in Go, those that declare one package (`import a.*;`, `using A;`) in Java, Kotlin and C#.
WITH asked AS (
    SELECT path, directory, language FROM files
    WHERE path IN (SELECT unnest($paths)) AND language IN ('go', 'java', 'kotlin', 'csharp')
), directories AS (
    SELECT asked.path, min(files.path) AS first FROM asked JOIN files USING (directory, language)
    WHERE language = 'go' AND NOT suffix(asked.path, '_test.go') AND NOT regexp_matches(files.filename, '^[_.]|_test\.go$')
    GROUP BY asked.path
), declared AS (
    SELECT asked.path, own.qualified_name AS package, min(other.path) AS first
    FROM asked JOIN symbols own USING (path)
    JOIN symbols other ON other.kind = 'module' AND other.qualified_name = own.qualified_name
        AND (other.language = 'csharp') = (own.language = 'csharp')
    WHERE own.kind = 'module' AND other.language IN ('java', 'kotlin', 'csharp')
    GROUP BY asked.path, own.qualified_name
), imported AS (
    SELECT unnest($paths) AS resolved_path, unnest($paths) AS target, NULL AS package
    UNION ALL SELECT path, first, NULL FROM directories
    UNION ALL SELECT path, first, package FROM declared
)
SELECT imported.resolved_path, imports.path, line_number FROM imported JOIN imports ON imports.resolved_path = imported.target
WHERE package IS NULL OR (module = package AND imported_names IN ([], ['*']))
GROUP BY ALL
ORDER BY ALL
