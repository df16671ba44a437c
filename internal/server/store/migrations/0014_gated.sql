-- oldest: 0008
-- The repository whose changes a project gates when its forge reports them, and on which device models.
create table pawl.gated (
  project_id  bigint primary key references pawl.project on delete cascade,
  repository  text not null check (length(repository) between 3 and 201), -- OWNER/NAME
  suite       text not null check (length(suite) between 1 and 500),
  models      text[] not null check (cardinality(models) between 1 and 8),
  fork_models text[] not null check (cardinality(fork_models) <= 8), -- of pull requests from forks; empty: they are not gated
  branches    text[] not null check (cardinality(branches) <= 20), -- whose pushes are gated
  secret      text not null check (length(secret) >= 16) -- signs the deliveries
);

-- Deliveries of the forge that were accepted, by the SHA-256 of what was signed. Each is accepted once.
create table pawl.delivery (
  project_id bigint not null references pawl.project on delete cascade,
  digest     bytea not null,
  at         timestamptz not null,
  primary key (project_id, digest)
);

do $$
declare t text;
begin
  foreach t in array array['gated', 'delivery'] loop
    execute format('alter table pawl.%I enable row level security', t);
    execute format('alter table pawl.%I force row level security', t);
    execute format('create policy own on pawl.%I using (project_id = (select pawl.here())) with check (project_id = (select pawl.here()))', t);
  end loop;
end $$;
grant select, insert, update, delete on pawl.gated, pawl.delivery to pawl_app;
