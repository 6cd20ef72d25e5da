-- What people ask, and what was answered.

-- A request that came with a key is answered once; whoever sends it again gets the same answer.
create table answered_request (
    cluster     text        not null,
    caller      text        not null,
    key         text        not null,
    digest      text        not null,
    answer      text        not null,
    answered_at timestamptz not null default now(),
    primary key (cluster, caller, key)
);
comment on column answered_request.digest is 'SHA-256 of what was asked: the same key with another content is an error';

-- The terms of a budget since they were first seen, so that a past period is told by its own.
create table budget_terms (
    cluster          text        not null references cluster,
    budget           text        not null,
    seen_at          timestamptz not null,
    uid              text        not null,
    generation       bigint      not null,
    allowance        bigint,
    max_rollover     bigint      not null,
    max_debt_percent integer     not null,
    period_unit      text        not null,
    period_zone      text        not null,
    period_anchor    text        not null,
    primary key (cluster, budget, uid, generation)
);
comment on column budget_terms.allowance is 'micro-GPU-seconds a period; null is unlimited';

-- What is told late about a closed period is found without reading that period: in an old month, no block has a young posting.
create index charge_by_posting on charge using brin (posted_at) with (pages_per_range = 32);

-- What people corrected stays, whatever the pod's own life turns out to have been.
alter table correction add column by_hand boolean not null default false;

-- Waste is asked for by owner, and by the time in which pods were there.
create index pod_allocation_by_end on pod_allocation (cluster, held_until);
