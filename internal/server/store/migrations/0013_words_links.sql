-- oldest: 0008
-- The words of series, for search. Row security lets only comparisons use an index, not LIKE or text search: a search for
-- words that start with a text is a range of this key. series.words has the same words in one text, each after a space;
-- it is null in a series that was added by a version without search, until a server indexes it.
create table pawl.series_word (
  project_id bigint not null,
  word       text collate "C" not null,
  lane       smallint not null,
  series_id  bigint not null,
  primary key (project_id, word, lane, series_id)
);

-- When a series was deleted. Its row stays, so that reports cannot bring it back.
alter table pawl.series add column words text,
  add column deleted timestamptz;

-- Public links to the history of one series. Each expires; only the hash of its text is stored.
create table pawl.link (
  project_id bigint not null references pawl.project on delete cascade,
  id         bigint generated always as identity,
  hash       bytea not null,
  prefix     text not null,
  series_id  bigint not null,
  name       text not null,
  created    timestamptz not null default now(),
  created_by text not null,
  expires    timestamptz not null,
  revoked    timestamptz,
  primary key (project_id, id),
  unique (project_id, hash)
);

do $$
declare t text;
begin
  foreach t in array array['series_word', 'link'] loop
    execute format('alter table pawl.%I enable row level security', t);
    execute format('alter table pawl.%I force row level security', t);
    execute format('create policy own on pawl.%I using (project_id = (select pawl.here())) with check (project_id = (select pawl.here()))', t);
  end loop;
end $$;
grant select, insert, update, delete on pawl.series_word, pawl.link to pawl_app;
