-- The core profile with the memory that a project of a gigabyte needs.

SET extends = 'fledgling-core';
SET memory_limit = '16GB';
