CREATE OR REPLACE TEMP MACRO add(a, b) AS a + b;
CREATE TRIGGER audit AFTER INSERT ON t BEGIN
  INSERT INTO log VALUES ('x');
  UPDATE t SET n = CASE WHEN n > 1 THEN 1 ELSE 2 END;
END;
CREATE VIRTUAL TABLE docs USING fts5(body);
create view [odd name] as select 1;
