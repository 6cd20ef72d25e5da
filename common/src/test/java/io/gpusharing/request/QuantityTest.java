package io.gpusharing.request;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class QuantityTest {

    private static final ObjectMapper JSON = new ObjectMapper();

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
        "9223372036854775807, 9223372036854775807",
        "8Ei, 9223372036854775807"
    })
    void readsWholeNumbersHoweverTheyAreWritten(String text, long number) {
        assertThat(Quantity.parse(text).wholeNumber()).hasValue(number);
        assertThat(Quantity.parse(text))
                .isEqualTo(Quantity.of(number))
                .hasSameHashCodeAs(Quantity.of(number));
    }

    @ParameterizedTest
    @ValueSource(strings = {"0.5", "1500m", "1n", "9223372036854775808", "1e30", "9e999", "-9e19"})
    void recognizesQuantitiesThatAreNotWholeOrTooLarge(String text) {
        assertThat(Quantity.parse(text).wholeNumber()).isEqualTo(OptionalLong.empty());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "abc",
                "1x",
                "1 k",
                "--1",
                "1e",
                "1e9223372036854775808",
                "1ki",
                "Ei",
                "0x10",
                "1e2k",
                "٣"
            })
    void refusesWhatKubernetesDoesNotWrite(String text) {
        assertThatThrownBy(() -> Quantity.parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(
                        "\"" + text + "\" is not a quantity; write a number such as 50, 1k or 4Gi");
    }

    /** Written by Kubernetes' own library: {@code tools/quantities}. */
    private static List<String[]> table() throws IOException {
        try (var table = QuantityTest.class.getResourceAsStream("quantities.tsv")) {
            return new String(requireNonNull(table).readAllBytes(), UTF_8)
                    .lines()
                    .map(line -> line.split("\t"))
                    .toList();
        }
    }

    @Test
    void readsWhatKubernetesReadsAsTheSameAmount() throws IOException {
        var differences = new ArrayList<String>();
        int read = 0;
        for (String[] columns : table()) {
            String text = JSON.readValue(columns[0], String.class);
            Optional<BigDecimal> ours = value(text);
            Optional<BigDecimal> theirs =
                    columns.length == 2
                            ? Optional.empty()
                            : Optional.of(
                                    new BigDecimal(
                                            new BigInteger(columns[1]),
                                            -Integer.parseInt(columns[2])));
            read += theirs.isPresent() ? 1 : 0;
            if (!agree(ours, theirs)) {
                differences.add(text + ": " + ours + " instead of " + theirs);
            }
        }

        assertThat(differences).isEmpty();
        assertThat(read).as("read by Kubernetes").isGreaterThan(2_000);
    }

    private static Optional<BigDecimal> value(String text) {
        try {
            return Optional.of(Quantity.parse(text).value());
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    /** Amounts beyond a thousand digits are all the same. */
    private static boolean agree(Optional<BigDecimal> ours, Optional<BigDecimal> theirs) {
        if (ours.isEmpty() || theirs.isEmpty()) {
            return ours.isEmpty() && theirs.isEmpty();
        }
        BigDecimal most = BigDecimal.ONE.scaleByPowerOfTen(1_000);
        BigDecimal exact = theirs.get();
        return (exact.signum() != 0 && (long) exact.precision() - exact.scale() > 1_000)
                ? ours.get().abs().compareTo(most) == 0 && ours.get().signum() == exact.signum()
                : ours.get().compareTo(exact) == 0;
    }

    @Test
    void aMillionDigitsCostNoTime() {
        String zeros = "0".repeat(1_000_000);

        assertThat(Quantity.parse(zeros + "7").wholeNumber()).hasValue(7);
        assertThat(Quantity.parse("9".repeat(1_000_000)).text()).isEqualTo("1E+1000");
        assertThat(Quantity.parse("0." + zeros + "1Ki").value()).isEqualByComparingTo("1E-9");
        assertThat(Quantity.parse("1e2147483647").value()).isEqualByComparingTo("1E+1000");
    }
}
