package io.gpusharing.timekeeper.ledger;

import static io.gpusharing.timekeeper.budget.TestBudgets.monthly;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.timekeeper.testing.Pods;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

/** Ten minutes of one GPU. */
class ExhaustionTest {

    private static final Instant TEN = Instant.parse("2026-03-02T10:00:00Z");

    private final Books books = new Books(TEN, monthly("a", TEN, "10", "team-a"));

    private static Instant at(String time) {
        return Instant.parse("2026-03-02T10:" + time + "Z");
    }

    private static Pods wholeGpu(Instant from) {
        return Pods.waiting("team-a", 100, 0).boundAt(from);
    }

    @Test
    void aBeginThatIsToldLateMovesTheEndToWhereItWas() {
        books.told(wholeGpu(TEN));
        books.pass(Duration.ofMinutes(9));

        books.told(wholeGpu(at("05:00")));

        assertThat(books.budget("a").exhaustedAt()).isEqualTo(at("07:30"));
    }

    @Test
    void anEndThatIsToldLateMovesTheEndThatWasNoted() {
        Pods third = wholeGpu(TEN);
        books.told(wholeGpu(TEN));
        books.told(wholeGpu(TEN));
        books.told(third);
        books.pass(Duration.ofMinutes(5));
        assertThat(books.budget("a").exhaustedAt()).isEqualTo(at("03:20"));

        books.told(third.finishedAt(at("03:00")));

        assertThat(books.budget("a").exhaustedAt()).isEqualTo(at("03:30"));
    }

    @Test
    void itIsExactToTheMicrosecondAsWhatIsForetold() {
        books.told(Pods.waiting("team-a", 70, 15).boundAt(TEN));
        books.pass(Duration.ofMinutes(14));
        Instant foretold = books.budget("a").exhaustedAt();

        Pods other = wholeGpu(at("14:00"));
        books.told(other);
        books.pass(Duration.ofMinutes(1));
        books.told(other.finishedAt(at("14:00")));

        assertThat(books.budget("a").exhaustedAt())
                .isEqualTo(foretold)
                .isEqualTo(at("14:17.142858"));
    }

    @Test
    void whatIsPostedByTheHourMovesNothing() {
        books.told(wholeGpu(TEN));
        books.pass(Duration.ofMinutes(11));
        Instant noted = books.budget("a").exhaustedAt();

        books.pass(Duration.ofMinutes(55));

        assertThat(books.budget("a").exhaustedAt()).isEqualTo(noted).isEqualTo(at("10:00"));
    }
}
