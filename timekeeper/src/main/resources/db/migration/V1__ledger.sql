-- Amounts are micro-GPU-seconds, rates and parts micro-GPUs. Spans are half-open: [from, to).
-- A budget named '' is none: what is charged to nobody is still known.

create table cluster (
    id             text        primary key,
    metering_start timestamptz not null,
    pod_position   text,
    seen_until     timestamptz
);
comment on column cluster.metering_start is 'nothing before our installation is ever charged';
comment on column cluster.pod_position is 'resource version up to which pods are in the ledger';
comment on column cluster.seen_until is 'when the API server last told anything about pods';

-- One row per pod that held a GPU. Without held_until it is open.
create table pod_allocation (
    cluster      text        not null references cluster,
    pod_uid      uuid        not null,
    namespace    text        not null,
    name         text        not null,
    owner_kind   text,
    owner_name   text,
    node         text        not null,
    budget       text        not null,
    rate         bigint      not null check (rate >= 0),
    compute_part bigint      not null check (compute_part >= 0),
    memory_part  bigint      not null check (memory_part >= 0),
    share_known  boolean     not null,
    held_from    timestamptz not null,
    posted_until timestamptz not null,
    charged_until timestamptz not null,
    held_until   timestamptz,
    estimated    boolean     not null default false,
    end_bound    timestamptz,
    primary key (cluster, pod_uid),
    check (held_until >= held_from)
) with (fillfactor = 70);
comment on column pod_allocation.end_bound is 'an estimated end lies between held_until and this';
create index pod_allocation_open on pod_allocation (cluster) where held_until is null;

-- What was charged. Rows are never updated; repairs are rows of correction.
create table charge (
    cluster      text        not null,
    pod_uid      uuid        not null,
    charged_from timestamptz not null,
    charged_to   timestamptz not null,
    namespace    text        not null,
    budget       text        not null,
    rate         bigint      not null check (rate >= 0),
    amount       bigint      not null check (amount >= 0),
    posted_at    timestamptz not null default now(),
    primary key (cluster, pod_uid, charged_from),
    check (charged_from < charged_to)
) partition by range (charged_from);
create table charge_default partition of charge default;
create index charge_by_budget on charge (cluster, budget, charged_from);

-- A later truth about a span: the rate is the difference, negative where too much was charged.
create table correction (
    id           uuid        primary key,
    cluster      text        not null references cluster,
    pod_uid      uuid        not null,
    charged_from timestamptz not null,
    charged_to   timestamptz not null,
    namespace    text        not null,
    budget       text        not null,
    rate         bigint      not null,
    amount       bigint      not null,
    reason       text        not null,
    author       text        not null,
    posted_at    timestamptz not null default now(),
    check (charged_from < charged_to)
);
create index correction_by_pod on correction (cluster, pod_uid);
create index correction_by_budget on correction (cluster, budget, charged_from);

-- Sums of charges and corrections, kept in the same transaction. They can be recomputed.
create table usage_hour (
    cluster   text        not null references cluster,
    budget    text        not null,
    namespace text        not null,
    hour      timestamptz not null,
    amount    bigint      not null,
    primary key (cluster, budget, hour, namespace)
) with (fillfactor = 70);

create view pod_charge as
select c.cluster, c.pod_uid, c.namespace, s.name, c.budget, c.charged_from, c.charged_to, c.rate, c.amount
from (select cluster, pod_uid, namespace, budget, charged_from, charged_to, rate, amount from charge
      union all
      select cluster, pod_uid, namespace, budget, charged_from, charged_to, rate, amount from correction) c
join pod_allocation s using (cluster, pod_uid);
comment on view pod_charge is 'every span charged to a pod, corrections with their negative amounts';

-- A period as it was opened: its edges stay, whatever happens to the rule or the time zone.
create table budget_period (
    cluster      text        not null references cluster,
    budget       text        not null,
    period_start timestamptz not null,
    period_end   timestamptz,
    counted_from timestamptz not null,
    rolled_over  bigint      not null default 0 check (rolled_over >= 0),
    debt         bigint      not null default 0 check (debt >= 0),
    written_off  bigint      not null default 0 check (written_off >= 0),
    opened_at    timestamptz not null default now(),
    primary key (cluster, budget, period_start)
);
comment on column budget_period.counted_from is 'its start, or the creation of the budget in its first period';
comment on column budget_period.rolled_over is 'what was left of the last allowance and may still be used';
comment on column budget_period.debt is 'what the last period overran and this one pays';
comment on column budget_period.written_off is 'what the last period overran above the cap';

-- GPU time on top. It can end early, when its object is deleted; it is never changed otherwise.
create table budget_grant (
    cluster    text        not null references cluster,
    uid        text        not null,
    name       text        not null,
    budget     text        not null,
    amount     bigint      not null check (amount > 0),
    reason     text        not null,
    author     text,
    valid_from timestamptz not null,
    expires    timestamptz,
    ended      timestamptz,
    primary key (cluster, uid)
);

-- What was left of a grant when a period was opened.
create table grant_carried (
    cluster      text        not null,
    budget       text        not null,
    period_start timestamptz not null,
    grant_uid    text        not null,
    remaining    bigint      not null check (remaining >= 0),
    primary key (cluster, budget, period_start, grant_uid)
);

-- What is told once: a threshold, an exhaustion. The row is written before it is told.
create table announcement (
    cluster      text        not null references cluster,
    budget       text        not null,
    period_start timestamptz not null,
    kind         text        not null,
    granted      bigint      not null,
    due_at       timestamptz not null,
    message      text        not null,
    told_at      timestamptz,
    primary key (cluster, budget, period_start, kind, granted)
);
comment on column announcement.granted is 'after a grant the same threshold can be told again';
create index announcement_untold on announcement (cluster) where told_at is null;
