-- small-machine: little memory, short calls, short answers: for a shared or small host.

SET extends = 'fledgling-core';
SET memory_limit = '256MB';
SET query_timeout = 5;
SET max_rows = 200;
SET max_result_bytes = '64KB';
