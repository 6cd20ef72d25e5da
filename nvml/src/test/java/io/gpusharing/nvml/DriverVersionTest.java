package io.gpusharing.nvml;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DriverVersionTest {

    @ParameterizedTest(name = "case 30: {0} is below {1}")
    @CsvSource({
        "470.256.02,535.104.05",
        "535.54.03,535.104.05",
        "535.104.05,535.113.01",
        "535.113.01,570.86.15",
        "570.86.15,570.148.08",
        "570.86.15,580.159.03",
        "580.159.03,610.57.04",
        "560.35,560.35.03"
    })
    void case30_partsCompareAsNumbers(String lower, String higher) {
        DriverVersion first = DriverVersion.parse(lower).orElseThrow();
        DriverVersion second = DriverVersion.parse(higher).orElseThrow();

        assertThat(first).isLessThan(second);
        assertThat(second.atLeast(first.major(), first.minor(), first.patch())).isTrue();
        assertThat(first.atLeast(second.major(), second.minor(), second.patch())).isFalse();
    }

    @ParameterizedTest(name = "case 30: \"{0}\" is no version")
    @ValueSource(
            strings = {"", "garbage", "580", "580.", "580.a.1", "-1.2.3", "1.2.3.4", "999999.1"})
    void case30_whatIsNoVersionIsLeftToTheSelfTest(String text) {
        assertThat(DriverVersion.parse(text)).isEmpty();
    }
}
