-- oldest: 0008
-- Runs that were taken out of the history, each with all that is needed to put it back: the row of its report
-- and its points. A deleted run has neither, but is remembered: it cannot be sent again. Its receipt stays.
create table pawl.excluded (
  project_id bigint not null references pawl.project on delete cascade,
  report_id  bigint not null,
  run        text not null,
  suite      text not null,
  sha        text not null,
  lane       smallint not null,
  at         timestamptz not null, -- where its points stood
  received   timestamptz not null,
  points     integer not null,
  series     bytea not null, -- as in pawl.report
  reason     text not null,
  actor      text not null,
  excluded   timestamptz not null,
  deleted    timestamptz,
  report     jsonb,
  ids        bigint[],       -- of the series of the points below
  value      real[],
  low        real[],
  high       real[],
  spread     real[],
  baseline   real[],
  rounds     integer[],
  flags      smallint[],
  primary key (project_id, report_id)
);
alter table pawl.excluded enable row level security;
alter table pawl.excluded force row level security;
create policy own on pawl.excluded using (project_id = (select pawl.here())) with check (project_id = (select pawl.here()));
grant select, insert, update, delete on pawl.excluded to pawl_app;
