#!/bin/sh
# Makes the roles and the database of pawld, as a superuser: the owner migrates, the server owns nothing.
# The PostgreSQL image runs it when its volume is new. By hand, for a database that exists, see
# docs/how-to/server.md.
set -e
secrets=${SECRETS:-/run/secrets}
psql -v ON_ERROR_STOP=1 -U "${POSTGRES_USER:-postgres}" -d postgres \
	-v owner="$(cat "$secrets/owner-password")" -v server="$(cat "$secrets/server-password")" <<'SQL'
create role pawl_app nologin;
create role pawl_owner login password :'owner';
create role pawld login password :'server' in role pawl_app;
create database pawl owner pawl_owner;
SQL
