-- oldest: 0008
-- A series that was taken out of the history: when, by whom and why. Its points stay where they are.
alter table pawl.series add column excluded timestamptz,
  add column excluded_actor text not null default '',
  add column excluded_reason text not null default '';
