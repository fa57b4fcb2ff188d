-- The tables of users, in the catalog `image`. Column order is a promise to users; new columns go to the end.
-- Purity is known with the graph, and stands there (schema_edges.sql).
-- Names are not compressed: a pattern is compared with all of them, in half the time.
CREATE TABLE image.files (
    path VARCHAR, absolute_path VARCHAR, directory VARCHAR, filename VARCHAR, extension VARCHAR, language VARCHAR,
    size_bytes BIGINT, line_count INTEGER, modified_at TIMESTAMP, is_binary BOOLEAN, is_generated BOOLEAN,
    content_hash VARCHAR, skip_reason VARCHAR, engine VARCHAR, is_parsed BOOLEAN, encoding VARCHAR
);
CREATE TABLE image.symbols (
    path VARCHAR, name VARCHAR USING COMPRESSION uncompressed, kind VARCHAR, line_start INTEGER, line_end INTEGER,
    parent_name VARCHAR, signature VARCHAR, docstring VARCHAR, language VARCHAR, visibility VARCHAR, qualified_name VARCHAR,
    content_hash VARCHAR, purity VARCHAR, purity_reason VARCHAR
);
CREATE TABLE image.imports (
    path VARCHAR, line_number INTEGER, module VARCHAR, alias VARCHAR, is_relative BOOLEAN, is_stdlib BOOLEAN,
    resolved_path VARCHAR, imported_names VARCHAR[]
);
