-- outline: names, signatures and structure: where things are, not what they do. A constant says its value.

SET extends = 'fledgling-core';
SET tools = 'explore, symbols, dependencies';
