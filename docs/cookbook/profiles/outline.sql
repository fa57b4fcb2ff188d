-- outline: names and structure, and no text: where things are, not what they do.

SET extends = 'fledgling-core';
SET tools = 'explore, symbols, dependencies';
