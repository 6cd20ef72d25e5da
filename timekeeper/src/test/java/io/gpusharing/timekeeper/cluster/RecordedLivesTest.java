package io.gpusharing.timekeeper.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.gpusharing.kubernetes.PodFacts;
import io.gpusharing.kubernetes.PodReader;
import io.gpusharing.testing.AccountingTable;
import io.gpusharing.testing.AccountingTable.Charged;
import io.gpusharing.testing.PodGenerator;
import io.gpusharing.testing.RandomSeeds;
import io.gpusharing.testing.RecordedLife;
import io.gpusharing.testing.RecordedLife.Version;
import io.gpusharing.timekeeper.allocation.AllocationInterval;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every recorded life is charged as docs/accounting.md says, whenever the pod is observed. */
class RecordedLivesTest {

    private static final Duration LATE = Duration.ofHours(1);
    private static final PodReader READER = new PodReader(name -> name.startsWith("tencent.com/"));
    private static final KubernetesSerialization LEAN = LeanObjects.serialization();

    static List<RecordedLife> lives() {
        return RecordedLife.all();
    }

    @ParameterizedTest
    @MethodSource("lives")
    void observingEveryVersionAtOnceYieldsTheTablesCharge(RecordedLife life) {
        assertThat(observedAtOnce(life, 0)).isEqualTo(AccountingTable.of(life));
    }

    @ParameterizedTest
    @MethodSource("lives")
    void observingTheRemovedPodAloneYieldsTheSameCharge(RecordedLife life) {
        Version last = life.last();

        assertThat(charged(null, AllocationInterval.ofRemoved(facts(last), last.at().plus(LATE))))
                .isEqualTo(AccountingTable.of(life));
    }

    @ParameterizedTest
    @MethodSource("lives")
    void startingAtAnyMomentOfALifeYieldsTheSameCharge(RecordedLife life) {
        assertThat(
                        IntStream.range(0, life.versions().size())
                                .mapToObj(i -> observedAtOnce(life, i)))
                .containsOnly(AccountingTable.of(life));
    }

    @ParameterizedTest
    @RandomSeeds(20)
    void livesAtOtherTimesAreChargedByTheSameTable(long seed) {
        var random = new Random(seed);
        var generator = new PodGenerator(random, Duration.ofMinutes(10));

        for (RecordedLife recorded : lives()) {
            RecordedLife life =
                    generator.again(recorded, "team-a", Instant.parse("2026-03-27T21:17:05Z"));
            int from = random.nextInt(life.versions().size());

            assertThat(observedAtOnce(life, from))
                    .as("%s, observed from version %d on", life.name(), from)
                    .isEqualTo(AccountingTable.of(life));
        }
    }

    @Test
    void theTableHasEveryRecordedLifeAndNoOther() {
        assertThat(lives().stream().map(life -> life.name().replaceFirst("/.*", "")).distinct())
                .containsExactlyInAnyOrderElementsOf(AccountingTable.lives());
    }

    /** As the ledger does: the first begin stands, the last end counts. */
    private static Charged observedAtOnce(RecordedLife life, int first) {
        Instant begin = null;
        AllocationInterval allocation = new AllocationInterval.None();
        for (Version version : life.versions().subList(first, life.versions().size())) {
            AllocationInterval now =
                    version.removed()
                            ? AllocationInterval.ofRemoved(facts(version), version.at())
                            : AllocationInterval.of(facts(version), version.at());
            allocation = now instanceof AllocationInterval.None ? allocation : now;
            if (begin == null) {
                begin = from(allocation);
            }
        }
        return charged(begin, allocation);
    }

    private static @Nullable Instant from(AllocationInterval allocation) {
        return switch (allocation) {
            case AllocationInterval.None none -> null;
            case AllocationInterval.Open open -> open.from();
            case AllocationInterval.Ended ended -> ended.from();
        };
    }

    private static Charged charged(@Nullable Instant begin, AllocationInterval allocation) {
        var ended = (AllocationInterval.Ended) allocation;
        assertThat(ended.begin().estimated()).isFalse();
        Instant from = begin == null ? ended.from() : begin;
        Instant to = ended.to().isBefore(from) ? from : ended.to();
        return new Charged(from, to, ended.estimated());
    }

    private static PodFacts facts(Version version) {
        return READER.read(LEAN.unmarshal(version.pod().toString(), Pod.class));
    }
}
