"""Who uses what: facts of each file by a query, and one resolver for all languages. Nothing here opens a file."""
