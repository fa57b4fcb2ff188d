-- How many bytes DuckDB holds that are not a copy of what stands in a file.
SELECT coalesce(sum(memory_usage_bytes), 0)::BIGINT AS held FROM duckdb_memory() WHERE tag <> 'BASE_TABLE'
