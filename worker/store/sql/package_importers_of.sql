-- As importers_of.sql, with packages. Who imports a whole one names its first file, and means all of its files: those of one
-- directory and language for $members, and of $packages, a path of $declaring and of $first each, those that declare one
-- (`import a.*;`, `using A;`). A link in one of the languages $documents means the file that it names.
WITH members AS (
    SELECT path, directory, language FROM files WHERE path IN (SELECT unnest($members))
), imported AS (
    SELECT unnest($paths) AS resolved_path, unnest($paths) AS target, NULL AS package
    UNION ALL SELECT members.path, files.path, NULL FROM members JOIN files USING (directory, language)
    UNION ALL SELECT unnest($declaring::VARCHAR[]), unnest($first::VARCHAR[]), unnest($packages::VARCHAR[])
)
SELECT imported.resolved_path, imports.path, line_number
FROM imported JOIN imports ON imports.resolved_path = imported.target LEFT JOIN files USING (path)
WHERE CASE
    WHEN package IS NOT NULL THEN module = package AND imported_names IN ([], ['*'])
    ELSE imported.resolved_path = imported.target OR files.language IS NULL OR files.language NOT IN (SELECT unnest($documents))
END
GROUP BY ALL
ORDER BY ALL
