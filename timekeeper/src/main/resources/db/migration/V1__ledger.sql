-- Amounts are micro-GPU-seconds, rates and parts micro-GPUs. Spans are half-open: [from, to).
-- The budget named '' is none: charges that no budget pays for are recorded, too.

create table cluster (
    id             text        primary key,
    metering_start timestamptz not null,
    pod_position   text,
    seen_until     timestamptz,
    reported_until timestamptz,
    swept_until    timestamptz
);
comment on column cluster.metering_start is 'nothing before our installation is ever charged';
comment on column cluster.pod_position is 'resource version up to which pods are in the ledger';
comment on column cluster.seen_until is 'when the API server last reported anything about pods';
comment on column cluster.reported_until is 'when all had been reported that happened to pods; what is not reported after that is unwatched';
comment on column cluster.swept_until is 'when the last sweep listed all pods, to find those that the watch does not deliver';

-- ===== Ledger

-- One row per pod that held a GPU, and per claim whose devices several pods may hold. Without held_until it is open.
create table pod_allocation (
    cluster             text        not null references cluster,
    pod_uid             uuid        not null,
    allocation          boolean     not null default false,
    namespace           text        not null,
    name                text        not null,
    owner_kind          text,
    owner_name          text,
    node                text        not null,
    watched             boolean     not null default true,

    -- What it holds, frozen when it was bound.
    share_known         boolean     not null,
    compute_part        bigint      not null check (compute_part >= 0),
    compute_numerator   bigint      not null,
    compute_denominator bigint      not null check (compute_denominator > 0),
    memory_part         bigint      not null check (memory_part >= 0),
    memory_numerator    bigint      not null,
    memory_denominator  bigint      not null check (memory_denominator > 0),
    model               text,
    gpu_mib             bigint      not null default 0 check (gpu_mib >= 0),

    -- Who pays, and what.
    budget              text        not null,
    share_rate          bigint      not null,
    weight              bigint      not null default 1000000 check (weight >= 0),
    weight_known        boolean     not null default true,
    rate                bigint      not null check (rate >= 0),
    use_since           timestamptz,
    use_before          bigint      not null default 0,
    covered_before      bigint      not null default 0,
    use_settled         timestamptz,

    -- From when to when, and how far that is charged.
    held_from           timestamptz not null,
    begin_estimated     boolean     not null default false,
    posted_until        timestamptz not null,
    charged_until       timestamptz not null,
    held_until          timestamptz,
    estimated           boolean     not null default false,
    end_bound           timestamptz,

    primary key (cluster, pod_uid),
    check (held_until >= held_from),
    constraint pod_allocation_rounded_once check (
        compute_part = greatest(sign(compute_numerator), div(compute_numerator::numeric * 1000000, compute_denominator))
        and memory_part = greatest(sign(memory_numerator), div(memory_numerator::numeric * 1000000, memory_denominator))),
    -- The rate is rounded after the weight, so the rounded share times the weight may be a little less.
    constraint pod_allocation_weighed check (
        rate >= least(div(share_rate::numeric * weight, 1000000), 100000000000)
        and (rate = 0 or rate::numeric * 1000000 < (share_rate + 1)::numeric * weight))
) with (fillfactor = 70);
comment on column pod_allocation.allocation is 'no pod, but what was allocated to a claim: pod_uid is the allocation''s, name the claim''s';
comment on column pod_allocation.watched is 'false: only the sweep over all pods finds it';
comment on column pod_allocation.compute_part is 'micro-GPUs, rounded down, for people; the rate is made of the exact part';
comment on column pod_allocation.model is 'of the GPU that it was placed on, else of its node''s';
comment on column pod_allocation.gpu_mib is 'memory of the GPU that it was placed on, with which reference amounts are compared; 0: its node speaks for that';
comment on column pod_allocation.share_rate is 'micro-GPUs that the budget''s rule makes of the share';
comment on column pod_allocation.weight is 'of the GPU model, in millionths of the reference';
comment on column pod_allocation.weight_known is 'false where the default weight is used for a model without one';
comment on column pod_allocation.use_since is 'charged by measured use since then, when the terms last changed; use_before and covered_before are what counters said';
comment on column pod_allocation.use_settled is 'until when entries say what the node agent measured';
comment on column pod_allocation.begin_estimated is 'no clock that can be right gives its begin';
comment on column pod_allocation.end_bound is 'an estimated end lies between held_until and this';
-- A balance reads what is running of one budget, not of the whole cluster.
create index pod_allocation_open_by_budget on pod_allocation (cluster, budget) where held_until is null;
-- Who asks what holds GPUs reads the pods of a namespace, or page after page.
create index pod_allocation_open_by_name on pod_allocation (cluster, namespace, name, pod_uid) where held_until is null;
create index pod_allocation_by_use on pod_allocation (cluster, held_until) where use_since is not null;
-- Waste is asked for by owner, and by the time in which pods were there.
create index pod_allocation_by_end on pod_allocation (cluster, held_until);

-- Devices of a claim that pods name are charged once, however many of them hold it: by an allocation of their own, from the begin of
-- its first holder to the end of its last.
create table claim_holder (
    cluster    text not null,
    allocation uuid not null,
    pod_uid    uuid not null,
    primary key (cluster, allocation, pod_uid),
    foreign key (cluster, allocation) references pod_allocation (cluster, pod_uid),
    foreign key (cluster, pod_uid) references pod_allocation (cluster, pod_uid)
);
comment on table claim_holder is 'which pods hold, or held, an allocation';
create index claim_holder_by_pod on claim_holder (cluster, pod_uid);

-- Time of which the API server did not report what happened to pods, because it had forgotten: a pod that was bound and removed within it
-- is not known, and not charged.
create table unwatched (
    cluster text        not null references cluster,
    since   timestamptz not null,
    until   timestamptz not null,
    primary key (cluster, since),
    check (since <= until)
);
comment on column unwatched.until is 'when all pods were listed again';

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
-- Late usage of a closed period is found without reading that period. A posting that came soon after its span is found by the
-- span; the few that came later than that are here.
create index charge_late on charge (cluster, budget, posted_at) where posted_at - charged_to > interval '2 hours';
-- What was posted last, and the last hours, lie together: verification finds them by a few pages of index.
create index charge_latest on charge using brin (posted_at, charged_from) with (autosummarize = on);

-- Months are dropped for all clusters of a database at once. Noted with each drop; no row if there was none.
create table charge_kept (
    one   boolean     primary key default true check (one),
    since timestamptz not null
);
comment on column charge_kept.since is 'charges of months before this were dropped';

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
    by_hand      boolean     not null default false,
    object       uuid,
    posted_at    timestamptz not null default now(),
    check (charged_from < charged_to)
);
comment on column correction.by_hand is 'kept whatever begin and end of the pod turn out to be: what administrators corrected, and what a pod was charged while the device plugin did not let it start';
comment on column correction.object is 'UID of the GpuCorrection by which a person ordered it: each is written once';
create index correction_by_object on correction (cluster, object) where object is not null;
create index correction_by_pod on correction (cluster, pod_uid);
create index correction_by_budget on correction (cluster, budget, charged_from);
create index correction_late on correction (cluster, budget, posted_at) where posted_at - charged_to > interval '2 hours';
create index correction_latest on correction using brin (posted_at, charged_from) with (autosummarize = on);

-- Sums of charges and corrections, kept in the same transaction. They can be recomputed.
create table usage_hour (
    cluster   text        not null references cluster,
    budget    text        not null,
    namespace text        not null,
    hour      timestamptz not null,
    amount    bigint      not null,
    primary key (cluster, budget, hour, namespace)
) with (fillfactor = 70);
create index usage_hour_latest on usage_hour using brin (hour) with (autosummarize = on);

create view pod_charge as
select c.cluster, c.pod_uid, c.namespace, s.name, c.budget, c.charged_from, c.charged_to, c.rate, c.amount
from (select cluster, pod_uid, namespace, budget, charged_from, charged_to, rate, amount from charge
      union all
      select cluster, pod_uid, namespace, budget, charged_from, charged_to, rate, amount from correction) c
join pod_allocation s using (cluster, pod_uid);
comment on view pod_charge is 'every span charged to a pod, corrections with their negative amounts';

-- What the last verification found, for the REST API.
create table verification (
    cluster  text        primary key references cluster,
    report   jsonb       not null,
    sound_at timestamptz
);
comment on column verification.sound_at is 'when the last one began that found no difference: the next one verifies what was posted since';

-- ===== Budgets

-- The terms of a budget since they were first seen, so that a past period is computed by its own.
create table budget_terms (
    cluster          text        not null references cluster,
    budget           text        not null,
    seen_at          timestamptz not null,
    uid              text        not null,
    generation       bigint      not null,
    edited_at        timestamptz not null,
    allowance        bigint,
    max_rollover     bigint      not null,
    max_debt_percent integer     not null,
    period_unit      text        not null,
    period_zone      text        not null,
    period_anchor    text        not null,
    written_at       timestamptz not null default now(),
    primary key (cluster, budget, uid, generation)
);
comment on column budget_terms.edited_at is 'when the budget was written last, by the API server''s clock';
comment on column budget_terms.allowance is 'micro-GPU-seconds a period; null is unlimited';

-- Who paid for a namespace, and how its rate is found, until the next row of it.
create table namespace_payer (
    cluster           text        not null references cluster,
    namespace         text        not null,
    since             timestamptz not null,
    budget            text        not null,
    formula           text        not null,
    reference_compute bigint,
    reference_memory  bigint,
    by_use            boolean     not null,
    primary key (cluster, namespace, since)
);
comment on column namespace_payer.reference_compute is 'what counts as one GPU; null for a whole GPU';

-- A period as it was opened: its edges are kept, whatever happens to the rule or the time zone.
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

-- GPU time on top. It can end early, when its object is deleted; it is never changed otherwise. A closed period is recomputed from what
-- was written when it was closed, by the clock of the database, as opened_at of the period and posted_at of an entry are.
create table budget_grant (
    cluster        text        not null references cluster,
    uid            text        not null,
    name           text        not null,
    budget         text        not null,
    amount         bigint      not null check (amount > 0),
    reason         text        not null,
    author         text,
    valid_from     timestamptz not null,
    expires        timestamptz,
    written_at     timestamptz not null default now(),
    ended          timestamptz,
    end_written_at timestamptz,
    primary key (cluster, uid)
);
comment on column budget_grant.written_at is 'since when it counts in what is closed, however early it began';

-- What was left of a grant when a period was opened.
create table grant_carried (
    cluster      text        not null,
    budget       text        not null,
    period_start timestamptz not null,
    grant_uid    text        not null,
    remaining    bigint      not null check (remaining >= 0),
    primary key (cluster, budget, period_start, grant_uid)
);

-- Events that are written once: a threshold, an exhaustion. The row is written before the Event.
create table budget_notification (
    cluster      text        not null references cluster,
    budget       text        not null,
    period_start timestamptz not null,
    kind         text        not null,
    granted      bigint      not null,
    due_at       timestamptz not null,
    message      text        not null,
    sent_at      timestamptz,
    primary key (cluster, budget, period_start, kind, granted)
);
comment on column budget_notification.granted is 'after a grant the same threshold can be passed again';
create index budget_notification_unsent on budget_notification (cluster) where sent_at is null;

-- ===== Usage, as meters report it. Counters are cumulative; merging takes the larger of each.

-- Every report that was taken, as long as it may still come again.
create table usage_report (
    cluster     text        not null,
    reporter    uuid        not null,
    run         uuid        not null,
    sequence    bigint      not null check (sequence >= 0),
    digest      uuid        not null,
    received_at timestamptz not null,
    primary key (cluster, reporter, run, sequence)
);
comment on column usage_report.digest is 'half of the SHA-256 of its content';
comment on column usage_report.reporter is 'UID of the pod that the token was bound to, so that no pod can use up another''s run';
create index usage_report_received on usage_report using brin (received_at);

-- How far each run of counters has come.
create table usage_counter (
    cluster      text        not null,
    pod_uid      uuid        not null,
    run          uuid        not null,
    meter        text        not null check (meter in ('Sidecar', 'Agent')),
    device       text        not null,
    basis        text        not null,
    basis_reason text        not null,
    gpu_us       bigint      not null check (gpu_us >= 0),
    memory_bs    bigint      not null check (memory_bs >= 0),
    covered_us   bigint      not null check (covered_us >= 0),
    uncovered_us bigint      not null check (uncovered_us >= 0),
    sequence     bigint      not null,
    first_at     timestamptz not null,
    last_at      timestamptz not null,
    at_most_us   bigint      not null default 0,
    primary key (cluster, pod_uid, run, meter, device)
) with (fillfactor = 60);
comment on column usage_counter.gpu_us is 'busy time of the whole GPU, in microseconds';
comment on column usage_counter.at_most_us is 'the most that it can have been: beside others who computed, all that the GPU did';
comment on column usage_counter.memory_bs is 'device memory held, in byte-seconds';

-- Use of a node's GPUs that belongs to no pod, by run of its agent.
create table usage_unattributed (
    cluster text        not null,
    node    text        not null,
    run     uuid        not null,
    device  text        not null,
    gpu_us  bigint      not null check (gpu_us >= 0),
    last_at timestamptz not null,
    primary key (cluster, node, run, device)
) with (fillfactor = 60);

-- ===== Evictions

-- What a GpuEviction said, for when the object is gone.
create table eviction (
    id               uuid        primary key,
    cluster          text        not null,
    uid              uuid        not null,
    version          bigint      not null,
    cause            text        not null check (cause in ('Reclaim', 'Preemption', 'RefusedStart', 'MemoryOveruse')),
    phase            text        not null check (phase in ('Planned', 'Done', 'Refused', 'NotDone')),
    decided_at       timestamptz not null,
    node             text        not null,
    waiter_uid       uuid,
    waiter_namespace text,
    waiter_name      text,
    waiter_budget    text,
    waiter_since     timestamptz,
    considered       jsonb,
    reason           text        not null default '',
    helped           boolean,
    outcome          text        not null default '',
    unique (cluster, uid)
);
comment on column eviction.uid is 'the object''s';
comment on column eviction.decided_at is 'when the object was made';
comment on column eviction.node is 'where the waiter fits then; without one, where the victim was';
comment on column eviction.waiter_budget is 'a name with a slash is no budget: its namespace is unlimited';
comment on column eviction.considered is 'how many pods were spared by why, and the nearest of them; null where nobody was compared';
comment on column eviction.reason is 'why nobody went, of NotDone';
comment on column eviction.helped is 'whether the waiter was bound in time where room was made; null while that is open, and without a waiter';
comment on column eviction.outcome is 'what became of the waiter, in words';
create index eviction_by_time on eviction (cluster, decided_at);

-- The pods that were to go.
create table eviction_victim (
    eviction      uuid   not null references eviction on delete cascade,
    uid           uuid   not null,
    namespace     text   not null,
    name          text   not null,
    budget        text   not null,
    reason        text   not null,
    cost          bigint check (cost >= 0),
    result        text   check (result in ('Evicted', 'Deleted', 'Preempted', 'Refused', 'Spared', 'Gone')),
    result_detail text   not null default '',
    primary key (eviction, uid)
);
comment on column eviction_victim.budget is 'which paid for the pod then; with a slash, none';
comment on column eviction_victim.cost is 'micro-GPU-seconds of the victim''s run, which may be lost';
comment on column eviction_victim.result is 'Deleted: past a PodDisruptionBudget, after it had refused for long; Spared: another of the plan was refused; null: not known yet';

-- A pod that holds more memory of a GPU than it was given, as its node's agent says now.
create table memory_excess (
    cluster       text        not null,
    pod_uid       uuid        not null,
    namespace     text        not null,
    name          text        not null,
    node          text        not null,
    device        text        not null,
    used_bytes    bigint      not null,
    granted_bytes bigint      not null,
    since         timestamptz not null,
    last_at       timestamptz not null,
    primary key (cluster, pod_uid)
);
create index memory_excess_by_node on memory_excess (cluster, node);
comment on column memory_excess.since is 'when it was said first, and in each report from then on';

-- What runs on GPUs now, as each node's agent said last: for people who ask, and no part of the ledger. Not logged, so in no archive of
-- the log; after a crash it is empty, until the next reports.
create unlogged table process_report (
    cluster     text        not null,
    node        text        not null,
    reported_at timestamptz not null,
    whole       boolean     not null,
    pods        jsonb       not null,
    primary key (cluster, node)
);
comment on column process_report.whole is 'whether it is known of all GPUs of the node, so that a pod that is not named runs nothing';
