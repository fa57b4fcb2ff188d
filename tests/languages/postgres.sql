-- Everything here is about users; not a statement's comment, because of the blank line.

-- One row for each user;
-- never deleted.
CREATE TABLE IF NOT EXISTS app."User s" (
    id bigint PRIMARY KEY, -- the key; never reused
    name text DEFAULT 'CREATE TABLE nope (id int);'
);
INSERT INTO app."User s" VALUES (1, E'it\'s; -- fine'), (2, '\');
/* CREATE TABLE hidden (id int); */
CREATE OR REPLACE FUNCTION app.touch() RETURNS trigger AS $body$
BEGIN
    -- inside a body, which is a string
    CREATE TEMP TABLE scratch (id int);
    RETURN NEW;
END;
$body$ LANGUAGE plpgsql;
CREATE CONSTRAINT TRIGGER touched AFTER UPDATE ON app."User s" FOR EACH ROW EXECUTE FUNCTION app.touch();
CREATE UNIQUE INDEX CONCURRENTLY by_name ON app."User s" (name);
CREATE INDEX ON app."User s" (name);
CREATE MATERIALIZED VIEW app.names AS
    SELECT name FROM app."User s";
CREATE TYPE mood AS ENUM ('sad', 'ok');
CREATE SCHEMA IF NOT EXISTS audit;
CREATE SEQUENCE audit.ids;
COPY app."User s" (id, name) FROM stdin;
3	it's
4	CREATE TABLE nope2 (id int);
\.
CREATE FUNCTION one() RETURNS int BEGIN ATOMIC SELECT 1; SELECT 2; END;
\echo 'a command of psql' \quit
CREATE AGGREGATE total(int) (SFUNC = int4pl, STYPE = int);
SELECT 1 \gset
CREATE DOMAIN positive AS int CHECK (VALUE > 0);
CREATE TABLESPACE fast LOCATION '/fast';
CREATE FOREIGN TABLE remote.orders (id int) SERVER other;
CREATE EVENT TRIGGER audit_ddl ON ddl_command_end EXECUTE FUNCTION app.touch();
BEGIN;
CREATE TABLE last_one (id int)
