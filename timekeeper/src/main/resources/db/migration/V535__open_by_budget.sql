-- A balance reads what is running of one budget, not of the whole cluster.
create index pod_allocation_open_by_budget on pod_allocation (cluster, budget) where held_until is null;
drop index pod_allocation_open;
