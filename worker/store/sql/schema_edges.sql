-- What uses what, in the catalog `image`: calls with the definition they are in, every use of a name, classes and bases,
-- and which functions have effects. The other tables have their names here as well: a statement reads all from here.
CREATE TABLE image.calls (
    path VARCHAR, line INTEGER, caller VARCHAR, callee_name VARCHAR, callee_path VARCHAR, callee_qualified_name VARCHAR,
    confidence VARCHAR, reason VARCHAR
);
CREATE TABLE image.refs (
    path VARCHAR, line INTEGER, name VARCHAR, target_path VARCHAR, target_qualified_name VARCHAR, kind VARCHAR,
    confidence VARCHAR
);
CREATE TABLE image.inherits (
    path VARCHAR, line INTEGER, name VARCHAR, base VARCHAR, base_path VARCHAR, base_qualified_name VARCHAR, kind VARCHAR,
    confidence VARCHAR, reason VARCHAR
);
CREATE TABLE image.effects (path VARCHAR, line INTEGER, purity VARCHAR, purity_reason VARCHAR);
CREATE VIEW image.files AS FROM code.files;
CREATE VIEW image.content AS FROM code.content;
CREATE VIEW image.imports AS FROM code.imports;
CREATE VIEW image.symbols AS
SELECT
    s.* EXCLUDE (purity, purity_reason),
    CASE WHEN s.kind IN ('function', 'method') THEN coalesce(e.purity, 'unknown') END AS purity,
    CASE WHEN s.kind IN ('function', 'method') THEN coalesce(
        e.purity_reason,
        CASE s.language WHEN 'python' THEN 'not in the graph' ELSE 'effects are not read in ' || s.language END
    ) END AS purity_reason
FROM code.symbols s LEFT JOIN image.effects e ON s.path = e.path AND s.line_start = e.line
ORDER BY s.rowid;
CREATE TABLE image.cycles (
    kind VARCHAR, cycle INTEGER, size INTEGER, path VARCHAR, line INTEGER, name VARCHAR
);
CREATE VIEW image.hubs AS
SELECT 'import' AS kind, resolved_path AS path, NULL::VARCHAR AS name, count(DISTINCT path) AS users
FROM code.imports WHERE resolved_path IS NOT NULL AND resolved_path <> imports.path GROUP BY ALL
UNION ALL
SELECT 'call', callee_path, callee_qualified_name, count(DISTINCT (path, caller))
FROM image.calls WHERE callee_qualified_name IS NOT NULL AND confidence IN ('certain', 'likely') GROUP BY ALL
ORDER BY ALL;
CREATE TABLE image.unreached (path VARCHAR, line INTEGER, name VARCHAR, unseen VARCHAR);
CREATE VIEW image.unreachable AS
SELECT
    u.path, u.line, u.name, s.qualified_name, s.kind,
    coalesce(u.unseen, CASE WHEN s.visibility = 'public' THEN 'code outside the project may use it' END) AS unseen
FROM image.unreached u JOIN code.symbols s
    ON s.path = u.path AND s.line_start = u.line AND s.name = u.name AND s.kind IN ('function', 'method', 'class')
ORDER BY u.rowid;
