-- What was known when a period was closed: that, and nothing that was told later, it is recomputed from. By the clock of the database,
-- as opened_at of the period and posted_at of an entry are.
alter table budget_grant
    add column written_at timestamptz,
    add column end_written_at timestamptz;
update budget_grant set written_at = valid_from, end_written_at = ended;
alter table budget_grant
    alter column written_at set default now(),
    alter column written_at set not null;
comment on column budget_grant.written_at is 'since when it counts in what is closed, however early it began';

alter table budget_terms add column written_at timestamptz;
update budget_terms set written_at = seen_at;
alter table budget_terms
    alter column written_at set default now(),
    alter column written_at set not null;
