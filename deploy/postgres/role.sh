#!/bin/sh
# Run once by the image of PostgreSQL, when its folder is empty: a database, and a role of its own that
# is no superuser. The password is told to psql by the environment, not on the command line.
set -eu
psql --set ON_ERROR_STOP=1 --username "$POSTGRES_USER" --no-psqlrc <<'SQL'
\getenv password HOLDFAST_DB_PASSWORD
CREATE ROLE holdfast LOGIN PASSWORD :'password';
CREATE DATABASE memory OWNER holdfast ENCODING 'UTF8' TEMPLATE template0;
REVOKE ALL ON DATABASE memory FROM PUBLIC;
\connect memory
CREATE EXTENSION IF NOT EXISTS vector;
SQL
