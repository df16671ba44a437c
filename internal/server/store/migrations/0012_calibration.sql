-- oldest: 0008
-- Calibrations of devices: what the judge said of the same code and of a planted slowdown. They say nothing about a project.
create table pawl.calibration (
  id          bigint generated always as identity primary key,
  device      text not null references pawl.device on delete cascade,
  at          timestamptz not null,
  driver      text not null,
  seed        bigint not null,
  rounds      integer not null,
  noise       double precision not null,
  smallest    double precision not null, -- change that so many rounds find 19 times in 20
  planted     double precision not null,
  false_alarm boolean not null,
  found       boolean not null,
  error       text not null -- why there is no result; the other columns say nothing then
);
create index on pawl.calibration (device, id);

alter table pawl.device
  add column driver      text not null default '', -- of the latest measurement
  add column quarantine  text not null default '', -- why only calibrations may use it
  add column quarantined timestamptz;

-- The calibration of the card that a result comes from, as it was then.
alter table pawl.publication add column calibration bigint references pawl.calibration on delete set null;

grant select, insert, update, delete on pawl.calibration to pawl_app;
