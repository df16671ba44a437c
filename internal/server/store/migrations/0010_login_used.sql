-- oldest: 0008
-- When a login was last used, for the idle limit.
alter table pawl.login add column last_used timestamptz not null default now();
