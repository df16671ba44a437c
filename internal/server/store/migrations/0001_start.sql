-- Everything a project has carries project_id first in its key, and is secured by row:
-- a statement sees only the project that its transaction named (pawl.project). Tables
-- without it are named, each with a reason, in internal/store/reviewed.go.

create schema if not exists pawl;

do $$
begin
  if not exists (select from pg_roles where rolname = 'pawl_app') then
    create role pawl_app nologin nosuperuser nobypassrls;
  end if;
end $$;

create function pawl.here() returns bigint
  language sql stable parallel safe
  as $$ select nullif(current_setting('pawl.project', true), '')::bigint $$;

-- Directory: who there is. No measurement, no secret.
create table pawl.project (
  id             bigint generated always as identity primary key,
  slug           text not null unique check (slug ~ '^[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?$'),
  name           text not null,
  public         boolean not null default false,
  repository     text not null default '',
  default_branch text not null default 'main',
  settings       jsonb not null default '{}',
  created        timestamptz not null default now(),
  deleting       timestamptz
);

create table pawl.account (
  id      bigint generated always as identity primary key,
  issuer  text not null,
  subject text not null,
  name    text not null,
  admin   boolean not null default false,
  created timestamptz not null default now(),
  unique (issuer, subject)
);

-- A browser's login: only the hash of its cookie.
create table pawl.login (
  hash       bytea primary key,
  account_id bigint not null references pawl.account on delete cascade,
  created    timestamptz not null default now(),
  expires    timestamptz not null
);

-- Tokens of CI jobs that were used, until they expire by themselves.
create table pawl.token_use (
  issuer  text not null,
  id      text not null,
  digest  bytea not null,
  receipt text not null,
  until   timestamptz not null,
  primary key (issuer, id)
);
create index on pawl.token_use (until);

create table pawl.member (
  project_id bigint not null references pawl.project on delete cascade,
  account_id bigint not null references pawl.account on delete cascade,
  role       text not null check (role in ('viewer', 'writer', 'admin')),
  primary key (project_id, account_id)
);
create index on pawl.member (account_id);

create table pawl.api_key (
  project_id bigint not null references pawl.project on delete cascade,
  id         bigint generated always as identity,
  hash       bytea not null,
  prefix     text not null,
  name       text not null,
  scopes     text[] not null,
  created    timestamptz not null default now(),
  created_by text not null,
  expires    timestamptz,
  last_used  timestamptz,
  revoked    timestamptz,
  primary key (project_id, id),
  unique (project_id, hash)
);

-- Which jobs of CI may upload: identity.Rule.
create table pawl.oidc_rule (
  project_id bigint not null references pawl.project on delete cascade,
  id         bigint generated always as identity,
  rule       jsonb not null,
  created    timestamptz not null default now(),
  primary key (project_id, id)
);

create table pawl.testbed (
  project_id bigint not null references pawl.project on delete cascade,
  id         bigint generated always as identity,
  key        text not null,
  facts      jsonb not null,
  timer      text not null default '',
  first      timestamptz not null default now(),
  primary key (project_id, id),
  unique (project_id, key)
);

-- Commits as reports told of them. One without a time is unresolved. The lane is that of
-- the most trusted report which told the time: a stranger's word does not place what the
-- repository measured.
create table pawl.revision (
  project_id bigint not null references pawl.project on delete cascade,
  sha        text not null,
  parent     text not null default '',
  at         timestamptz,
  author     text not null default '',
  title      text not null default '',
  lane       smallint not null default 0,
  primary key (project_id, sha)
);

create table pawl.series (
  project_id     bigint not null references pawl.project on delete cascade,
  id             bigint generated always as identity,
  suite          text not null,
  name           text not null,
  benchmark      text not null,
  config         text not null default '',
  cache          text not null default '',
  metric         text not null default '',
  implementation text not null,
  testbed_id     bigint not null,
  lane           smallint not null, -- 0 main, 1 branch, 2 fork
  unit           text not null,
  better         text not null default '',
  path           text not null default '',
  owners         text[] not null default '{}',
  created        timestamptz not null default now(),
  primary key (project_id, id),
  unique (project_id, suite, name, implementation, testbed_id, lane),
  foreign key (project_id, testbed_id) references pawl.testbed (project_id, id)
);

create table pawl.report (
  project_id bigint not null references pawl.project on delete cascade,
  id         bigint generated always as identity,
  run        text not null,
  suite      text not null,
  measured   timestamptz not null,
  received   timestamptz not null default now(),
  at         timestamptz not null, -- where its points stand
  placed     boolean not null default true, -- false while they only stand where they were measured
  sha        text not null,
  branch     text not null default '',
  pull       integer not null default 0,
  lane       smallint not null,
  trust      smallint not null,
  pawl       text not null default '',
  testbed_id bigint not null,
  health     jsonb not null,
  verdict    text not null default '',
  sentence   text not null default '',
  points     integer not null,
  series     bytea not null, -- their ids: ascending, delta varint
  sender     jsonb not null default '{}',
  primary key (project_id, id)
);
create index on pawl.report (project_id, at);
create index on pawl.report (project_id, suite, at) where lane = 0; -- columns of a heat map
create index on pawl.report (project_id, testbed_id, measured);
create index on pawl.report (project_id, sha);
create index on pawl.report (project_id, run);
create index on pawl.report (project_id, received); -- quotas
create index on pawl.report (project_id, sha) where not placed;

-- Outside the partitions: a unique index on those would have to contain the time.
create table pawl.receipt (
  project_id bigint not null references pawl.project on delete cascade,
  key        bytea not null,
  body       bytea not null, -- SHA-256 of what was sent
  report_id  bigint not null,
  primary key (project_id, key)
);

-- Hot points, in monthly partitions. Older ones are compacted into tiles.
create table pawl.point (
  project_id bigint not null,
  series_id  bigint not null,
  at         timestamptz not null,
  report_id  bigint not null,
  value      real not null,
  low        real not null,
  high       real not null,
  spread     real not null,
  baseline   real not null, -- 0 for none
  rounds     integer not null,
  flags      smallint not null, -- trust in bits 0-1, verdict in 2-5, moved in 6
  primary key (project_id, series_id, at, report_id)
) partition by range (at);

create table pawl.tile (
  project_id   bigint not null,
  series_id    bigint not null,
  first_at     timestamptz not null,
  first_report bigint not null, -- one commit may be measured more often than a tile has room
  last_at      timestamptz not null,
  n            smallint not null,
  version      smallint not null,
  crc          bigint not null, -- CRC-32C of data
  data         bytea not null,
  primary key (project_id, series_id, first_at, first_report)
);
alter table pawl.tile alter column data set storage external; -- compressed already

-- Reports whose series were not looked at since.
create table pawl.dirty (
  project_id bigint not null,
  report_id  bigint not null,
  since      timestamptz not null default now(),
  primary key (project_id, report_id)
);

-- What the finder remembers of a series. Lost, it is computed anew.
create table pawl.trend_state (
  project_id bigint not null,
  series_id  bigint not null,
  version    integer not null,
  points     integer not null,
  last_at    timestamptz not null,
  last       real not null,
  noise      real not null,
  two_speeds boolean not null,
  state      bytea not null,
  primary key (project_id, series_id)
);

create table pawl.event_group (
  project_id bigint not null references pawl.project on delete cascade,
  id         bigint generated always as identity,
  from_sha   text not null,
  to_sha     text not null,
  at         timestamptz not null,
  worst      real not null,
  series     integer not null,
  worse      integer not null,
  machine    bigint not null default 0, -- the testbed, where it was the machine
  told       timestamptz,               -- when people were told
  primary key (project_id, id)
);
create index on pawl.event_group (project_id, at);

create table pawl.event (
  project_id   bigint not null references pawl.project on delete cascade,
  id           bigint generated always as identity,
  series_id    bigint not null,
  kind         text not null check (kind in ('step', 'drift')),
  first_report bigint not null, -- the first point of the new level
  worse        boolean not null,
  from_sha     text not null,
  to_sha       text not null,
  since        timestamptz not null,
  at           timestamptz not null,
  before       double precision not null,
  after        double precision not null,
  p            double precision not null,
  state        text not null default 'new' check (state in ('new', 'acknowledged', 'fixed', 'false-alarm')),
  note         text not null default '',
  group_id     bigint,
  detected     timestamptz not null default now(),
  primary key (project_id, id),
  unique (project_id, series_id, kind, first_report)
);
create index on pawl.event (project_id, at);
create index on pawl.event (project_id, group_id);
create index on pawl.event (project_id, at) where state = 'new';

create table pawl.blob (
  project_id bigint not null references pawl.project on delete cascade,
  digest     bytea not null,
  size       bigint not null,
  created    timestamptz not null default now(),
  primary key (project_id, digest)
);

create table pawl.report_blob (
  project_id bigint not null references pawl.project on delete cascade,
  report_id  bigint not null,
  ordinal    integer not null,
  digest     bytea not null,
  kind       text not null,
  name       text not null default '',
  primary key (project_id, report_id, ordinal)
);
create index on pawl.report_blob (project_id, digest);

-- Whom to tell. The secret signs what is sent.
create table pawl.hook (
  project_id bigint not null references pawl.project on delete cascade,
  id         bigint generated always as identity,
  kind       text not null check (kind in ('slack', 'json')),
  url        text not null,
  secret     text not null default '',
  created    timestamptz not null default now(),
  primary key (project_id, id)
);

-- What people and keys did. Append-only: each row carries the hash of the one before.
-- It outlives its project.
create table pawl.audit (
  project_id bigint not null,
  n          bigint not null,
  at         timestamptz not null,
  actor      text not null,
  action     text not null,
  detail     jsonb not null,
  hash       bytea not null,
  primary key (project_id, n)
);

-- Rows are the project's that the transaction named. FORCE: the owner's too.
do $$
declare t text;
begin
  foreach t in array array['api_key', 'oidc_rule', 'testbed', 'revision', 'series', 'report',
    'receipt', 'point', 'tile', 'dirty', 'trend_state', 'event_group', 'event', 'blob', 'report_blob', 'hook', 'audit'] loop
    execute format('alter table pawl.%I enable row level security', t);
    execute format('alter table pawl.%I force row level security', t);
    execute format('create policy own on pawl.%I using (project_id = (select pawl.here())) with check (project_id = (select pawl.here()))', t);
  end loop;
end $$;
alter table pawl.member enable row level security;
alter table pawl.member force row level security;
create policy own on pawl.member
  using (project_id = (select pawl.here()))
  with check (project_id = (select pawl.here()));
-- A person may see where they belong before they have chosen a project.
create policy mine on pawl.member for select
  using (account_id = nullif(current_setting('pawl.account', true), '')::bigint);

-- Partitions are made and dropped by the owner, on the app's behalf: the app can do
-- nothing else to the schema. Attaching locks less than creating in place.
create function pawl.make_partition(month date) returns boolean
  language plpgsql security definer set search_path = pg_catalog
as $$
declare
  first date := date_trunc('month', month);
  part  text := 'point_' || to_char(first, 'YYYYMM');
begin
  if first < date '2000-01-01' or first > (now() + interval '1 year')::date then
    raise exception 'no partition for %', first using errcode = '22008';
  end if;
  perform pg_advisory_xact_lock(hashtext('pawl.partition'));
  if to_regclass('pawl.' || part) is not null then
    return false;
  end if;
  execute format('create table pawl.%I (like pawl.point including defaults including constraints including indexes)', part);
  execute format('alter table pawl.%I enable row level security', part);
  execute format('alter table pawl.%I force row level security', part);
  execute format('create policy own on pawl.%I using (project_id = (select pawl.here())) with check (project_id = (select pawl.here()))', part);
  execute format('alter table pawl.point attach partition pawl.%I for values from (%L) to (%L)',
    part, first::timestamp at time zone 'UTC', (first + interval '1 month')::timestamp at time zone 'UTC');
  return true;
end $$;

-- Only one that is empty: what is dropped was compacted before.
create function pawl.drop_partition(month date) returns boolean
  language plpgsql security definer set search_path = pg_catalog
as $$
declare
  part text := 'point_' || to_char(date_trunc('month', month), 'YYYYMM');
  rows bigint;
begin
  perform pg_advisory_xact_lock(hashtext('pawl.partition'));
  if to_regclass('pawl.' || part) is null then
    return false;
  end if;
  execute format('lock table pawl.%I in access exclusive mode', part);
  execute format('alter table pawl.%I no force row level security', part);
  execute format('select count(*) from (select 1 from pawl.%I limit 1) one', part) into rows;
  if rows > 0 then
    execute format('alter table pawl.%I force row level security', part);
    return false;
  end if;
  execute format('drop table pawl.%I', part);
  return true;
end $$;
revoke all on function pawl.make_partition(date), pawl.drop_partition(date) from public;

grant usage on schema pawl to pawl_app;
grant select on pawl.migration to pawl_app;
grant usage on sequence pawl.report_id_seq to pawl_app; -- receipts name reports before those are written
grant execute on function pawl.here(), pawl.make_partition(date), pawl.drop_partition(date) to pawl_app;
grant select, insert, update, delete on
  pawl.project, pawl.account, pawl.login, pawl.token_use, pawl.member, pawl.api_key, pawl.oidc_rule, pawl.testbed, pawl.revision,
  pawl.series, pawl.report, pawl.receipt, pawl.point, pawl.tile, pawl.dirty, pawl.trend_state, pawl.event_group, pawl.event,
  pawl.blob, pawl.report_blob, pawl.hook to pawl_app;
grant select, insert on pawl.audit to pawl_app; -- nobody changes it, not even by mistake
