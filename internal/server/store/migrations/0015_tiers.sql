-- oldest: 0008
-- Trust tiers: whose code a host serves, and whose code the keys of a project send. See docs/explanation/fleet-trust.md.
alter table pawl.agent add column tier text not null default 'own' check (tier in ('own', 'checked', 'unknown'));
alter table pawl.budget add column tier text not null default 'own' check (tier in ('own', 'checked', 'unknown'));
