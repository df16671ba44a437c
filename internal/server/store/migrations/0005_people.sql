-- Who is an admin of the server is decided at each request, by the settings; for those that
-- the settings name by address that takes the address which the issuer verified last. The
-- column admin is not looked at any more.
alter table pawl.account add column email text not null default '';

-- What forks send is counted apart.
alter table pawl.blob add column fork boolean not null default false;
create index on pawl.blob (project_id) include (size) where fork;
create index on pawl.report (project_id, received) include (points) where lane = 2;

-- A temporary table must not stand in for one of the catalog.
alter function pawl.make_partition(date) set search_path = pg_catalog, pg_temp;
alter function pawl.drop_partition(date) set search_path = pg_catalog, pg_temp;
