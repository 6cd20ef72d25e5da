-- The end of a pod that only the sweep finds lies between the last sweep that found it and the next, whoever made either.
alter table cluster add column swept_until timestamptz;
comment on column cluster.swept_until is 'when all pods were last looked through for such as the watch does not tell of';
