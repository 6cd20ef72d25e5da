package io.gpusharing.deviceplugin.mps;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.OptionalInt;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ThreadPercentageTest {

    /** As they stand in benchmarks/README.md. */
    private static final IntStream MEASURED =
            IntStream.of(
                    16, 19, 22, 28, 31, 34, 35, 36, 38, 39, 40, 41, 42, 43, 44, 45, 46, 55, 56, 57,
                    58, 59, 60, 61, 62, 63, 64, 65, 66, 67, 68, 69, 70, 71, 72, 73, 74, 75, 76, 77,
                    78, 79, 80, 81, 82, 83, 84, 85, 86, 87, 88, 89);

    private static final IntStream REPORTED =
            Stream.of(
                            IntStream.rangeClosed(14, 22),
                            IntStream.rangeClosed(28, 46),
                            IntStream.rangeClosed(52, 89))
                    .flatMapToInt(range -> range);

    @Test
    void neverIsAPercentageSetThatComputesWrongly() {
        assertThat(
                        IntStream.range(1, 100)
                                .mapToObj(share -> ThreadPercentage.of(share, "9.0"))
                                .flatMapToInt(OptionalInt::stream)
                                .boxed())
                .hasSize(42)
                .doesNotContainAnyElementsOf(IntStream.concat(MEASURED, REPORTED).boxed().toList());
    }

    @ParameterizedTest(name = "{0} is {1}")
    @CsvSource({"13, 13", "14, 13", "25, 25", "30, 27", "50, 50", "56, 51", "99, 99"})
    void aShareIsRoundedDownByATenthAtMost(int share, int percentage) {
        assertThat(ThreadPercentage.of(share, "9.0")).hasValue(percentage);
    }

    @ParameterizedTest
    @CsvSource({"15", "20", "31", "40", "57", "75", "89"})
    void whereMoreWouldBeLostNothingLimitsTheProcessors(int share) {
        assertThat(ThreadPercentage.of(share, "9.0")).isEmpty();
    }

    @Test
    void otherGpusComputeRightlyAndOfUnknownOnesTheWorstIsAssumed() {
        assertThat(ThreadPercentage.of(75, "8.0")).hasValue(75);
        assertThat(ThreadPercentage.of(75, "")).isEmpty();
    }
}
