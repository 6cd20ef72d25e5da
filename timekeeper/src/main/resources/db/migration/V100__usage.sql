-- What meters told. Counters are cumulative; merging takes the larger of each.

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
comment on column usage_report.reporter is 'UID of the pod that the token was bound to, so that nobody can use up another''s run';
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
    primary key (cluster, pod_uid, run, meter, device)
) with (fillfactor = 60);
comment on column usage_counter.gpu_us is 'busy time of the whole GPU, in microseconds';
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
