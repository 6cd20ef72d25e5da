package io.gpusharing.deviceplugin.mps;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.OptionalInt;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ThreadPercentageTest {

    /** As they stand in benchmarks/README.md. */
    private static final Set<Integer> WRONG =
            IntStream.of(
                            16, 19, 22, 28, 31, 34, 35, 36, 38, 39, 40, 41, 42, 43, 44, 45, 46, 55,
                            56, 57, 58, 59, 60, 61, 62, 63, 64, 65, 66, 67, 68, 69, 70, 71, 72, 73,
                            74, 75, 76, 77, 78, 79, 80, 81, 82, 83, 84, 85, 86, 87, 88, 89)
                    .boxed()
                    .collect(Collectors.toSet());

    @Test
    void neverIsAPercentageSetThatComputesWrongly() {
        assertThat(
                        IntStream.range(1, 100)
                                .mapToObj(share -> ThreadPercentage.of(share, "9.0"))
                                .flatMapToInt(OptionalInt::stream)
                                .boxed())
                .hasSizeGreaterThan(40)
                .doesNotContainAnyElementsOf(WRONG);
    }

    @ParameterizedTest(name = "{0} is {1}")
    @CsvSource({"15, 15", "16, 15", "40, 37", "41, 37", "50, 50", "60, 54", "99, 99"})
    void aShareIsRoundedDownByATenthAtMost(int share, int percentage) {
        assertThat(ThreadPercentage.of(share, "9.0")).hasValue(percentage);
    }

    @ParameterizedTest
    @CsvSource({"42", "46", "61", "75", "89"})
    void whereMoreWouldBeLostNothingLimitsTheProcessors(int share) {
        assertThat(ThreadPercentage.of(share, "9.0")).isEmpty();
    }

    @Test
    void otherGpusComputeRightlyAndOfUnknownOnesTheWorstIsAssumed() {
        assertThat(ThreadPercentage.of(75, "8.0")).hasValue(75);
        assertThat(ThreadPercentage.of(75, "")).isEmpty();
    }
}
