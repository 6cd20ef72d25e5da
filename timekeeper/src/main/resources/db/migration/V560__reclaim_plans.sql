-- Whoever plans evictions says how many plans it has seen: a plan from an older reading is refused.
create table reclaim_plans (
    cluster text   primary key,
    written bigint not null
);
comment on column reclaim_plans.written is 'how many plans of evictions were ever written';
