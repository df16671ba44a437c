-- oldest: 0008
-- Hosts that only build, and what agents say of their hosts. See docs/decisions/0050-builds.md.
alter table pawl.agent add column builds boolean not null default false;
alter table pawl.agent add column tools text not null default '';
alter table pawl.agent add column arch text not null default '';
