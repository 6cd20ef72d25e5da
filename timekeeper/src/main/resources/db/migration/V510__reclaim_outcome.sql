-- Receipts say what became of the waiter in words, and of a victim that it was deleted or spared.
alter table reclaim_receipt drop constraint reclaim_receipt_result_check;
alter table reclaim_receipt add constraint reclaim_receipt_result_check
    check (result in ('Planned', 'Evicted', 'Deleted', 'Refused', 'Spared', 'Gone'));
alter table reclaim_receipt add column outcome text not null default '';
comment on column reclaim_receipt.result is 'Deleted: past a PodDisruptionBudget, after it had refused for long; Spared: another of the plan was refused';
comment on column reclaim_receipt.helped is 'whether the waiter was bound in time where room was made; null while that is open';
comment on column reclaim_receipt.outcome is 'what became of the waiter, in words';

-- Nobody was evicted, so it cannot have helped.
update reclaim_receipt
   set helped = false, settled_at = coalesce(settled_at, decided_at), outcome = 'it was not evicted'
 where result = 'Refused';
