-- public-names: definitions that others may use; what is private has no name here.

SET extends = 'fledgling-core';
SET tools = 'explore, symbols, dependencies';
CREATE VIEW symbols AS
SELECT * FROM symbols WHERE visibility = 'public';
