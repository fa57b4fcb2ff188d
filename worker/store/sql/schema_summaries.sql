-- What directories, files and definitions say of themselves, in the catalog of a cursor. `source` is where that stands: a
-- docstring, a comment, a heading; of a directory, the file that speaks for it. `defines` are the definitions that a file or
-- directory is about.
CREATE TEMP TABLE summaries (
    path VARCHAR, symbol VARCHAR, kind VARCHAR, line_start INTEGER, text VARCHAR, source VARCHAR, defines VARCHAR[]
);
