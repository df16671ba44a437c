-- Devices of the fleet. They belong to the server and say nothing about a project.
create table pawl.device (
  id     text primary key check (length(id) between 1 and 100),
  model  text not null check (length(model) between 1 and 64),
  host   text not null default '' check (length(host) <= 200),
  power  text not null default 'ready' check (power in ('ready', 'asleep', 'closed')),
  reason text not null default '' check (length(reason) <= 500), -- why it is closed
  price  double precision not null default 0 check (price >= 0), -- money per hour
  seen   timestamptz -- when its agent was last heard
);
create index on pawl.device (model);

-- A gate has one row for each device model. attempt is the fencing number: a lower one may not publish.
create table pawl.gate (
  project_id bigint not null references pawl.project on delete cascade,
  id         text not null,
  model      text not null,
  change     text not null default '', -- a new gate of a change cancels the older ones
  base       text not null,
  head       text not null,
  suite      text not null,
  bundle     text not null, -- SHA-256 of the blob with both commits, kept until the gate has ended
  state      text not null check (state in ('waiting', 'measuring', 'done', 'failed', 'canceled')),
  device     text not null default '',
  reason     text not null default '',
  attempt    integer not null default 0,
  created    timestamptz not null default now(),
  changed    timestamptz not null default now(),
  primary key (project_id, id, model)
);
create index on pawl.gate (project_id, change) where state in ('waiting', 'measuring');

-- The key is that of a publication: it can exist once.
create table pawl.publication (
  project_id bigint not null references pawl.project on delete cascade,
  gate       text not null,
  commit     text not null,
  suite      text not null,
  model      text not null,
  attempt    integer not null,
  device     text not null,
  record     text not null default '', -- SHA-256 of the archive with the documents
  exit       integer not null,
  rounds     integer not null,
  seconds    double precision not null,
  error      text not null default '',
  at         timestamptz not null default now(),
  primary key (project_id, gate, commit, suite, model)
);

-- What a project may use of the fleet on a day, and what it has used and reserved. 0 means no limit.
create table pawl.budget (
  project_id    bigint primary key references pawl.project on delete cascade,
  limit_seconds double precision not null default 0 check (limit_seconds >= 0),
  limit_money   double precision not null default 0 check (limit_money >= 0),
  day           timestamptz not null default 'epoch',
  used_seconds  double precision not null default 0,
  used_money    double precision not null default 0
);

create table pawl.reservation (
  project_id bigint not null references pawl.project on delete cascade,
  lease      text not null,
  seconds    double precision not null,
  money      double precision not null,
  start      timestamptz not null,
  settled    boolean not null default false,
  primary key (project_id, lease)
);

do $$
declare t text;
begin
  foreach t in array array['gate', 'publication', 'budget', 'reservation'] loop
    execute format('alter table pawl.%I enable row level security', t);
    execute format('alter table pawl.%I force row level security', t);
    execute format('create policy own on pawl.%I using (project_id = (select pawl.here())) with check (project_id = (select pawl.here()))', t);
  end loop;
end $$;
grant select, insert, update, delete on pawl.device, pawl.gate, pawl.publication, pawl.budget, pawl.reservation to pawl_app;
