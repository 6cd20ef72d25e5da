-- What a GPU model costs beside the reference, frozen when a pod is bound: rate = share_rate × weight.
alter table pod_allocation
    add column share_rate bigint,
    add column model text,
    add column weight bigint not null default 1000000 check (weight >= 0),
    add column weight_known boolean not null default true;
update pod_allocation set share_rate = rate;
alter table pod_allocation
    alter column share_rate set not null,
    add constraint pod_allocation_weighed
        check (rate = least(div(share_rate::numeric * weight, 1000000), 100000000000));
comment on column pod_allocation.share_rate is 'micro-GPUs that the budget''s rule makes of the share';
comment on column pod_allocation.weight is 'of the GPU model, in millionths of the reference';
comment on column pod_allocation.weight_known is 'false where the usual weight stands in for a model that nobody has weighed';

-- Pods that do not carry our label, because they are older than we or came past the webhook.
alter table pod_allocation add column watched boolean not null default true;
comment on column pod_allocation.watched is 'false: only the slow sweep over all pods tells of it';

-- Charged by measured use, since when the terms last changed, and what counters said then.
alter table pod_allocation
    add column use_since timestamptz,
    add column use_before bigint not null default 0,
    add column covered_before bigint not null default 0,
    add column use_settled timestamptz;
comment on column pod_allocation.use_settled is 'until when entries say what the node agent measured';
create index pod_allocation_by_use on pod_allocation (cluster, held_until) where use_since is not null;
