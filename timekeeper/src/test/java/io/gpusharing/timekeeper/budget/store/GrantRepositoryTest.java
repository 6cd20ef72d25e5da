package io.gpusharing.timekeeper.budget.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.budget.GpuTime;
import io.gpusharing.timekeeper.budget.account.Grant;
import io.gpusharing.timekeeper.database.ClusterDatabase;
import io.gpusharing.timekeeper.testing.TestDatabase;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class GrantRepositoryTest {

    private static final Instant TEN = Instant.parse("2026-03-02T10:00:00Z");
    private static final TestDatabase DATABASE = TestDatabase.create();

    private final GrantRepository grants = grants("test");

    private static GrantRepository grants(String cluster) {
        return new GrantRepository(new ClusterDatabase(DATABASE.jdbc(), cluster));
    }

    @BeforeAll
    static void installed() {
        DATABASE.jdbc()
                .sql("insert into cluster values ('test', now()), ('other', now())")
                .update();
    }

    @AfterEach
    void empty() {
        DATABASE.jdbc().sql("delete from budget_grant").update();
    }

    private static Grant grant(
            String uid, String budget, String minutes, Instant from, @Nullable Instant expires) {
        return new Grant(
                uid,
                "more",
                budget,
                GpuTime.ofMinutes(minutes),
                "paper deadline",
                "somebody",
                from,
                expires);
    }

    private void write(Grant... written) {
        grants.write(List.of(written));
    }

    private static Instant at(int minutes) {
        return TEN.plus(Duration.ofMinutes(minutes));
    }

    private List<String> counting(String budget, Instant since) {
        return grants.countingSince(budget, since).stream().map(Grant::uid).toList();
    }

    /** Finding: one such grant stopped the ledger of all. */
    @Test
    void aTextThatNoDatabaseHoldsIsWrittenAllTheSame() {
        write(grant("odd", "a\0b", "10", TEN, null), grant("one", "a", "10", TEN, null));

        assertThat(counting("a\0b", TEN)).containsExactly("odd");
        assertThat(counting("a", TEN)).containsExactly("one");
    }

    @Test
    void aGrantIsWhatItWasWhenItWasFirstSeen() {
        write(grant("one", "a", "10", TEN, null));

        write(grant("one", "a", "9999", TEN, null));

        assertThat(grants.of("a", null, 10))
                .singleElement()
                .extracting(Grant::amount)
                .isEqualTo(GpuTime.ofMinutes("10"));
    }

    @Test
    void aGrantEndsWhenItsObjectIsGoneAndNeverAgain() {
        write(grant("one", "a", "10", TEN, null));
        write(grant("two", "a", "10", TEN, null));

        grants.stand(List.of("two"), at(5));
        grants.stand(List.of("two"), at(9));

        assertThat(grants.of("a", null, 10)).extracting(Grant::ended).containsExactly(at(5), null);
    }

    @Test
    void whatEndedOrExpiredCountsForTheTimeBeforeThat() {
        write(grant("expires", "a", "10", TEN, at(10)));
        write(grant("deleted", "a", "10", at(1), null));
        write(grant("stands", "a", "10", at(2), null));
        grants.stand(List.of("expires", "stands"), at(10));

        assertThat(counting("a", at(9))).containsExactly("expires", "deleted", "stands");
        assertThat(counting("a", at(10))).containsExactly("stands");
    }

    @Test
    void eachBudgetAndEachClusterHasItsOwn() {
        write(grant("one", "a", "10", TEN, null));
        write(grant("two", "b", "10", TEN, null));
        grants("other").write(List.of(grant("three", "a", "10", TEN, null)));

        grants.stand(List.of("one", "two"), at(5));

        assertThat(counting("a", TEN)).containsExactly("one");
        assertThat(counting("b", TEN)).containsExactly("two");
        assertThat(grants("other").of("a", null, 10))
                .singleElement()
                .extracting(Grant::ended)
                .isNull();
    }

    @Test
    void aNameIsKnownAlsoWhenItsGrantHasEnded() {
        write(grant("one", "a", "10", TEN, null));
        grants.stand(List.of(), at(5));

        assertThat(grants.isKnown("more")).isTrue();
        assertThat(grants.isKnown("less")).isFalse();
        assertThat(grants("other").isKnown("more")).isFalse();
    }

    @Test
    void whatSomebodyEndedWhoDidNotKnowOfItGoesOn() {
        write(grant("one", "a", "10", TEN, null), grant("two", "b", "10", TEN, null));
        assertThat(grants.stand(List.of("two"), at(5))).containsExactly("a");

        assertThat(grants.stand(List.of("one", "two"), at(9))).containsExactly("a");
        assertThat(counting("a", at(9))).containsExactly("one");
    }

    @Test
    void pagesGoOnBehindTheLastGrant() {
        List.of("one", "three", "two").forEach(it -> write(grant(it, "a", "1", TEN, null)));

        assertThat(grants.of("a", null, 2)).extracting(Grant::uid).containsExactly("one", "three");
        assertThat(grants.of("a", "three", 2)).extracting(Grant::uid).containsExactly("two");
    }
}
