-- What is told late about a closed period is found without reading that period. A posting that came soon after its span is looked for
-- by the span; the few that came later than that are here.
drop index charge_by_posting;
create index charge_told_late on charge (cluster, budget, posted_at) where posted_at - charged_to > interval '2 hours';
create index correction_told_late on correction (cluster, budget, posted_at) where posted_at - charged_to > interval '2 hours';
