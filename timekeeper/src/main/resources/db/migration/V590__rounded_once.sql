-- What a pod holds, exactly, in lowest terms; null for pods that an earlier version froze, which rounded the parts of
-- each container. Those keep what they cost.
alter table pod_allocation
    add column compute_numerator bigint,
    add column compute_denominator bigint check (compute_denominator > 0),
    add column memory_numerator bigint,
    add column memory_denominator bigint check (memory_denominator > 0),
    add constraint pod_allocation_rounded_once check (
        compute_part = greatest(sign(compute_numerator), div(compute_numerator::numeric * 1000000, compute_denominator))
        and memory_part = greatest(sign(memory_numerator), div(memory_numerator::numeric * 1000000, memory_denominator)));
comment on column pod_allocation.compute_part is 'micro-GPUs, rounded down: what is told; the rate is made of the exact part';

-- The rate is rounded after the weight, so the rounded share times the weight may be a little less.
alter table pod_allocation
    drop constraint pod_allocation_weighed,
    add constraint pod_allocation_weighed check (
        rate >= least(div(share_rate::numeric * weight, 1000000), 100000000000)
        and (rate = 0 or rate::numeric * 1000000 < (share_rate + 1)::numeric * weight));
