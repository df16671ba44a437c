-- Digests go by mail, too: the address of such a hook is mailto:NAME@HOST.
alter table pawl.hook drop constraint hook_kind_check;
alter table pawl.hook add constraint hook_kind_check check (kind in ('slack', 'json', 'mail'));
