-- A grant that is deleted leaves its place in the order of use as it was. Of those that were deleted before, all that was
-- used was counted as theirs first; that stays as it was published.
alter table budget_grant add column ended_first boolean not null default false;
update budget_grant set ended_first = true where ended is not null;
comment on column budget_grant.ended_first is 'its deletion put it before all others, as an earlier version did it';
