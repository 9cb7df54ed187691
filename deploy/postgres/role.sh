#!/bin/sh
# Run once by the image of PostgreSQL, when its folder is empty: a database, a role that owns the tables
# and is used to make them, and one that the server works as, which PostgreSQL itself keeps to the banks
# of each request. Neither is a superuser. Passwords are told to psql by the environment, not on the
# command line.
set -eu
psql --set ON_ERROR_STOP=1 --username "$POSTGRES_USER" --no-psqlrc <<'SQL'
\getenv owner HOLDFAST_OWNER_PASSWORD
\getenv password HOLDFAST_DB_PASSWORD
CREATE ROLE holdfast_owner LOGIN PASSWORD :'owner';
CREATE ROLE holdfast LOGIN PASSWORD :'password';
CREATE DATABASE memory OWNER holdfast_owner ENCODING 'UTF8' TEMPLATE template0;
REVOKE ALL ON DATABASE memory FROM PUBLIC;
GRANT CONNECT ON DATABASE memory TO holdfast;
\connect memory
CREATE EXTENSION IF NOT EXISTS vector;
ALTER DEFAULT PRIVILEGES FOR ROLE holdfast_owner GRANT USAGE ON SCHEMAS TO holdfast;
ALTER DEFAULT PRIVILEGES FOR ROLE holdfast_owner GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO holdfast;
SELECT :SERVER_VERSION_NUM >= 170000 AS can_maintain \gset
\if :can_maintain
ALTER DEFAULT PRIVILEGES FOR ROLE holdfast_owner GRANT MAINTAIN ON TABLES TO holdfast;
\endif
ALTER DEFAULT PRIVILEGES FOR ROLE holdfast_owner GRANT USAGE ON SEQUENCES TO holdfast;
SQL
