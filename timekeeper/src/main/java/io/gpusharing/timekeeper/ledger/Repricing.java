package io.gpusharing.timekeeper.ledger;

import io.gpusharing.request.NodeFacts;
import io.gpusharing.request.Quantity;
import io.gpusharing.timekeeper.cluster.ClusterView;
import io.gpusharing.timekeeper.ledger.Measurements.Measured;
import io.gpusharing.timekeeper.ledger.PodStay.Price;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.stream.Stream;

/**
 * Brings the open stays to the terms that hold now, after budgets have changed: another budget may
 * pay, or at another rate, or by measured use. Belongs to the bookkeeper's thread.
 */
final class Repricing {

    private final Stays stays;
    private final Tariffs tariffs;
    private final Settlement settlement;
    private final ClusterView view;

    Repricing(Stays stays, Tariffs tariffs, Settlement settlement, ClusterView view) {
        this.stays = stays;
        this.tariffs = tariffs;
        this.settlement = settlement;
        this.view = view;
    }

    /** Other terms for an open stay, from an instant on. */
    private record Change(UUID uid, Tariff tariff, Price price, Instant since) {}

    /**
     * Posts what the changed stays cost on their old terms, and puts them on the new ones.
     *
     * @param now up to when measured use is settled on the old terms, and from when on terms hold
     *     that were changed while nobody ran
     */
    void reprice(Instant now) {
        List<Change> changes = stays.open().stream().flatMap(stay -> change(stay, now)).toList();
        if (changes.isEmpty()) {
            return;
        }
        Draft old = stays.draft();
        changes.forEach(it -> old.postUntil(committed(it), it.since()));
        stays.commit(old);
        Map<UUID, Measured> measured =
                settlement.measured(
                        changes.stream()
                                .filter(it ->
                                        committed(it).byUse()
                                                || isByUse(it.tariff(), committed(it)))
                                .map(this::committed)
                                .toList());
        settlement.settle(
                stays,
                changes.stream().map(this::committed).filter(PodStay::byUse).toList(),
                measured,
                now);
        Draft draft = stays.draft();
        for (Change it : changes) {
            PodStay stay = committed(it);
            draft.reprice(
                    stay,
                    it.tariff().budget(),
                    it.price(),
                    isByUse(it.tariff(), stay)
                            ? Settlement.stretch(stay, measured.get(it.uid()))
                            : null);
        }
        stays.commit(draft);
    }

    private Stream<Change> change(PodStay stay, Instant now) {
        Tariff tariff = tariffs.of(stay.namespace());
        NodeFacts node = view.node(stay.node()).orElse(NodeFacts.UNKNOWN);
        Price price = stay.priced(tariff.rule(), node);
        boolean same =
                tariff.budget().equals(stay.budget())
                        && (costsTheSame(price, stay) || tellsNothing(node, tariff))
                        && isByUse(tariff, stay) == stay.byUse();
        return same
                ? Stream.empty()
                : Stream.of(new Change(stay.uid(), tariff, price, since(stay, tariff, now)));
    }

    /** What an earlier version froze keeps its rate, however that was rounded. */
    private static boolean costsTheSame(Price price, PodStay stay) {
        return price.share() == stay.price().share()
                && (price.rate() == stay.rate() || !stay.held().exact());
    }

    /**
     * What was changed while nobody ran holds from when it is seen; it would else reach back to
     * where the stay happens to be posted, and take time from who has paid for it.
     */
    private static Instant since(PodStay stay, Tariff tariff, Instant now) {
        boolean paid = !stay.budget().equals(Tariff.NOBODY);
        return paid && tariff.since().isBefore(stay.postedUntil()) ? now : tariff.since();
    }

    /**
     * A node that is gone, or whose device plugin is just restarting, changes nothing. Whoever has
     * run for long remembers what it told; who has just started must not forget it.
     */
    private static boolean tellsNothing(NodeFacts node, Tariff tariff) {
        return tariff.rule().reference() != null
                && node.capacity().values().stream().allMatch(Quantity::isZero);
    }

    /** Nobody measures what several pods hold together. */
    private static boolean isByUse(Tariff tariff, PodStay stay) {
        return tariff.byUse() && !stay.isAllocation();
    }

    private PodStay committed(Change change) {
        return Objects.requireNonNull(stays.get(change.uid()));
    }
}
