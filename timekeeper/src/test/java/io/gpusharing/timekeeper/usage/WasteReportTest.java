package io.gpusharing.timekeeper.usage;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class WasteReportTest {

    @Test
    void lessThanAnHourIsWrittenInMinutes() {
        assertThat(WasteReport.time(150)).isEqualTo("2.5 min");
        assertThat(WasteReport.time(3_599)).isEqualTo("60.0 min");
        assertThat(WasteReport.time(3_600)).isEqualTo("1.0 h");
        assertThat(WasteReport.time(219_600)).isEqualTo("61.0 h");
    }
}
