-- Devices of a claim that pods name are charged once, however many of them hold it: by a stay of their own, from the begin of its
-- first holder to the end of its last.
alter table pod_allocation add column allocation boolean not null default false;
comment on column pod_allocation.allocation is 'no pod, but what was allocated to a claim: pod_uid is the allocation''s, name the claim''s';

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
