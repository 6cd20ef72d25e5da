package io.gpusharing.timekeeper.ledger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import java.time.Period;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Settings that would stop the ledger hours later are refused at the start. */
class LedgerPropertiesTest {

    private static LedgerProperties with(Period keepCharges, Duration settleEvery) {
        return new LedgerProperties(
                Duration.ofSeconds(30),
                Duration.ofSeconds(1),
                Duration.ofSeconds(10),
                keepCharges,
                settleEvery,
                10,
                5_000);
    }

    @ParameterizedTest
    @ValueSource(strings = {"P30D", "P1M1D", "P-1M", "P1001Y"})
    void chargesAreKeptForWholeMonths(String period) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> with(Period.parse(period), Duration.ofMinutes(10)))
                .withMessageContaining("keep-charges")
                .withMessageContaining("P13M");
    }

    @ParameterizedTest
    @ValueSource(strings = {"PT0S", "PT0.5S", "PT-10M"})
    void measuredUseIsSettledOnceASecondAtMost(String every) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> with(Period.ZERO, Duration.parse(every)))
                .withMessageContaining("settle-every");
    }

    @Test
    void aYearAndAMonthIsAsGoodAsThirteenMonths() {
        assertThat(with(Period.parse("P1Y1M"), Duration.ofSeconds(1)).keepCharges())
                .isEqualTo(Period.of(1, 1, 0));
    }
}
