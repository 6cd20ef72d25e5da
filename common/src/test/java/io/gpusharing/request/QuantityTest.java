package io.gpusharing.request;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.OptionalLong;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class QuantityTest {

    @ParameterizedTest
    @CsvSource({
        "50, 50",
        "+50, 50",
        "-3, -3",
        "1e2, 100",
        "1E2, 100",
        "1k, 1000",
        "2M, 2000000",
        "1E, 1000000000000000000",
        "4Ki, 4096",
        "1Gi, 1073741824",
        "5000m, 5",
        "0.5k, 500",
        "100.0, 100",
        "0, 0",
        "9223372036854775807, 9223372036854775807"
    })
    void readsWholeNumbersHoweverTheyAreWritten(String text, long number) {
        assertThat(Quantity.parse(text).wholeNumber()).hasValue(number);
        assertThat(Quantity.parse(text))
                .isEqualTo(Quantity.of(number))
                .hasSameHashCodeAs(Quantity.of(number));
    }

    @ParameterizedTest
    @ValueSource(strings = {"0.5", "1500m", "1n", "9223372036854775808", "1e30", "8Ei", "-9e19"})
    void recognizesQuantitiesThatAreNotWholeOrTooLarge(String text) {
        assertThat(Quantity.parse(text).wholeNumber()).isEqualTo(OptionalLong.empty());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "", "abc", "1x", "1 k", "--1", "1e", "1e99999", "1ki", "Gi", "0x10", "1e2k", "٣"
            })
    void refusesWhatKubernetesDoesNotWrite(String text) {
        assertThatThrownBy(() -> Quantity.parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(
                        "\"" + text + "\" is not a quantity; write a number such as 50, 1k or 4Gi");
    }
}
