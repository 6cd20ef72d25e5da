-- A begin that no clock tells which can be right. Of stays that an earlier version began nobody knows any more; they count as told.
alter table pod_allocation add column begin_estimated boolean not null default false;
