-- How many commits the range of an event has that were measured; 0 for those found before
-- it was counted. A drift has many: none of them is its cause.
alter table pawl.event add column commits integer not null default 0;
