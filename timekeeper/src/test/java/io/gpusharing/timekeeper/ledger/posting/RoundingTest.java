package io.gpusharing.timekeeper.ledger.posting;

import static io.gpusharing.timekeeper.budget.TestBudgets.monthly;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.request.NodeFacts;
import io.gpusharing.request.Quantity;
import io.gpusharing.request.grammar.VcudaGrammar;
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

    private final TestLedger ledger = new TestLedger(TEN, OF_15_BLOCKS);
    private final Pods pod = Pods.waiting("team-a", 1, 13).boundAt(TEN);

    private static Written reference(int blocks) {
        return monthly("a", TEN, "1000", "team-a").fixed(50, blocks);
    }

    @BeforeEach
    void aNodeOf97Blocks() {
        ledger.node(
                new NodeFacts(
                        Map.of(
                                VcudaGrammar.CORE, Quantity.of(100),
                                VcudaGrammar.MEMORY, Quantity.of(97)),
                        Map.of()));
        ledger.restart();
    }

    @Test
    void aPartOfAFixedReferenceIsRoundedOnce() {
        ledger.onUpdate(pod);
        ledger.pass(A_MINUTE);

        assertThat(ledger.charged(pod).microGpuSeconds()).isEqualTo(60 * 866_666);
        assertThat(ledger.differences()).isEmpty();
    }

    @Test
    void aRestartChangesNoRate() {
        ledger.onUpdate(pod);
        ledger.pass(A_MINUTE);

        ledger.restart();
        ledger.pass(A_MINUTE);

        assertThat(ledger.charged(pod).microGpuSeconds()).isEqualTo(120 * 866_666);
        assertThat(ledger.allocation(pod).postedUntil())
                .as("nothing had to be posted")
                .isEqualTo(TEN);
    }
}
