-- How long single charges are kept, where somebody has set it at run time.
alter table cluster add column keep_charges_months integer check (keep_charges_months between 0 and 12000);
comment on column cluster.keep_charges_months is '0 for ever; null as configured';

-- Months are dropped for all clusters of a database at once. Noted with each drop; no row if there was none.
create table charge_kept (
    one   boolean     primary key default true check (one),
    since timestamptz not null
);
comment on column charge_kept.since is 'charges of months before this were dropped';

-- What was dropped until now: hourly sums stay, so they tell of months that have no table any more.
insert into charge_kept (since)
select first.month
from (select min(to_date(substr(c.relname, 9), 'YYYYMM'))::timestamp at time zone 'UTC' as month
      from pg_inherits i join pg_class c on c.oid = i.inhrelid
      where i.inhparent = 'charge'::regclass and c.relname like 'charge\_m%') first
where exists (select from usage_hour where hour < first.month);
