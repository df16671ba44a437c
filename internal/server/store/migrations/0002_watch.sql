-- Where a series begins: how much of a testbed has moved at a commit is told by the
-- series that were measured before it and after it.
alter table pawl.trend_state add column first_at timestamptz not null default 'epoch';

-- Groups that nobody was told of yet.
create index on pawl.event_group (project_id) where told is null;
