-- A receipt for each pod that was evicted for another, or that the API server would not evict.
create table reclaim_receipt (
    cluster          text        not null,
    waiter_uid       uuid        not null,
    attempt          integer     not null check (attempt > 0),
    victim_uid       uuid        not null,
    decided_at       timestamptz not null,
    settles_at       timestamptz not null,
    waiter_namespace text        not null,
    waiter_name      text        not null,
    waiter_workload  text        not null,
    waiter_budget    text        not null,
    waiter_since     timestamptz not null,
    victim_namespace text        not null,
    victim_name      text        not null,
    victim_budget    text        not null,
    victim_gang      text        not null,
    victim_node      text        not null,
    node             text        not null,
    reason           text        not null,
    cost             bigint      not null check (cost >= 0),
    considered       jsonb       not null,
    result           text        not null default 'Planned'
                     check (result in ('Planned', 'Evicted', 'Refused', 'Gone')),
    result_detail    text        not null default '',
    helped           boolean,
    settled_at       timestamptz,
    primary key (cluster, waiter_uid, attempt, victim_uid)
);
comment on column reclaim_receipt.attempt is 'how often room was made for the waiter; two timekeepers cannot both make the same';
comment on column reclaim_receipt.waiter_budget is 'a name with a slash is no budget: its namespace is unlimited';
comment on column reclaim_receipt.node is 'where the waiter fits then';
comment on column reclaim_receipt.cost is 'micro-GPU-seconds of the victim''s run, which may be lost';
comment on column reclaim_receipt.considered is 'everybody who was looked at, and why not him';
comment on column reclaim_receipt.helped is 'whether the waiter was bound in time; null while that is open';
create index reclaim_receipt_by_time on reclaim_receipt (cluster, decided_at);
create index reclaim_receipt_open on reclaim_receipt (cluster) where helped is null;
