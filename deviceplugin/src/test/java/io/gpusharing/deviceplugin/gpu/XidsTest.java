package io.gpusharing.deviceplugin.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class XidsTest {

    @ParameterizedTest
    @ValueSource(longs = {13, 31, 43, 45, 68, 109, 8, 32, 63, 69, 94, 106})
    void errorsOfProgramsAreNoneOfTheGpusFault(long xid) {
        assertThat(Xids.fault(xid)).isNull();
    }

    @ParameterizedTest
    @ValueSource(longs = {46, 48, 62, 64, 74, 79, 95, 119, 120, 140, 143})
    void errorsThatOnlyAResetEndsAreWaitedForAReset(long xid) {
        assertThat(Xids.fault(xid)).extracting(Fault::cure).isEqualTo(Cure.RESET);
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 54, 61, 149, 154, 167, 999})
    void otherErrorsAreReasonToCheck(long xid) {
        assertThat(Xids.fault(xid)).extracting(Fault::cure).isEqualTo(Cure.CHECK);
    }

    @Test
    void noErrorIsBothIgnoredAndWaitedFor() {
        assertThat(Xids.IGNORED).doesNotContainAnyElementsOf(Xids.NEEDING_RESET);
    }

    @Test
    void theReasonNamesTheNumberAndItsMeaning() {
        assertThat(Xids.words(79)).isEqualTo("XID 79 (it has fallen off the bus)");
        assertThat(Xids.words(999)).isEqualTo("XID 999");
    }
}
