package io.gpusharing.timekeeper.ledger;

import static io.gpusharing.timekeeper.budget.TestBudgets.monthly;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.request.NodeFacts;
import io.gpusharing.request.Quantity;
import io.gpusharing.request.VcudaGrammar;
import io.gpusharing.timekeeper.budget.TestBudgets.Written;
import io.gpusharing.timekeeper.testing.Pods;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** On a GPU of 97 blocks, of which hardly a part is a whole number of millionths. */
class RoundingTest {

    private static final Instant TEN = Instant.parse("2026-03-02T10:00:00Z");
    private static final Duration A_MINUTE = Duration.ofMinutes(1);
    private static final Written OF_15_BLOCKS = reference(15);

    private final Books books = new Books(TEN, OF_15_BLOCKS);
    private final Pods pod = Pods.waiting("team-a", 1, 13).boundAt(TEN);

    private static Written reference(int blocks) {
        return monthly("a", TEN, "1000", "team-a").fixed(50, blocks);
    }

    @BeforeEach
    void aNodeOf97Blocks() {
        books.node(
                new NodeFacts(
                        Map.of(
                                VcudaGrammar.CORE, Quantity.of(100),
                                VcudaGrammar.MEMORY, Quantity.of(97)),
                        Map.of()));
        books.restart();
    }

    @Test
    void aPartOfAFixedReferenceIsRoundedOnce() {
        books.told(pod);
        books.pass(A_MINUTE);

        assertThat(books.charged(pod).microGpuSeconds()).isEqualTo(60 * 866_666);
        assertThat(books.differences()).isEmpty();
    }

    @Test
    void aRestartChangesNoRate() {
        books.told(pod);
        books.pass(A_MINUTE);

        books.restart();
        books.pass(A_MINUTE);

        assertThat(books.charged(pod).microGpuSeconds()).isEqualTo(120 * 866_666);
        assertThat(books.stay(pod).postedUntil()).as("nothing had to be posted").isEqualTo(TEN);
    }

    @Test
    void aPodThatAnEarlierVersionBoundKeepsItsRate() {
        books.told(pod);
        frozenByAnEarlierVersion();

        books.restart();
        books.pass(A_MINUTE);

        assertThat(books.charged(pod).microGpuSeconds()).isEqualTo(60 * 866_663);
        assertThat(books.stay(pod).postedUntil()).as("nothing had to be posted").isEqualTo(TEN);
        assertThat(books.differences()).isEmpty();
    }

    @Test
    void aPodThatAnEarlierVersionBoundFollowsNewTerms() {
        books.told(pod);
        frozenByAnEarlierVersion();
        books.restart();

        books.exist(reference(30));

        assertThat(books.stay(pod).rate()).isEqualTo(433_331);
        assertThat(books.differences()).isEmpty();
    }

    /** 13/97 and 15/97 were rounded before one was divided by the other. */
    private void frozenByAnEarlierVersion() {
        books.database
                .jdbc()
                .sql(
                        """
                        update pod_stay set share_rate = 866663, rate = 866663, compute_numerator = null,
                            compute_denominator = null, memory_numerator = null, memory_denominator = null
                        """)
                .update();
    }
}
