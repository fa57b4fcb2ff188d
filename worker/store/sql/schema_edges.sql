-- What uses what, in the catalog `image`: calls with the definition they are in, every use of a name, classes and bases.
CREATE TABLE image.calls (
    path VARCHAR, line INTEGER, caller VARCHAR, callee_name VARCHAR, callee_path VARCHAR, callee_qualified_name VARCHAR,
    confidence VARCHAR, reason VARCHAR
);
CREATE TABLE image.refs (
    path VARCHAR, line INTEGER, name VARCHAR, target_path VARCHAR, target_qualified_name VARCHAR, kind VARCHAR,
    confidence VARCHAR
);
CREATE TABLE image.inherits (
    path VARCHAR, line INTEGER, name VARCHAR, base VARCHAR, base_path VARCHAR, base_qualified_name VARCHAR, kind VARCHAR
);
