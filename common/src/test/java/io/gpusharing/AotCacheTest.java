package io.gpusharing;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class AotCacheTest {

    @Test
    void aCacheThatTheMachineSharesIsUsed() {
        assertThat(AotCache.of(true, "mixed mode, sharing")).isEqualTo(AotCache.USED);
    }

    @Test
    void aCacheThatDoesNotFitIsDistinguishedFromNone() {
        assertThat(AotCache.of(true, "mixed mode")).isEqualTo(AotCache.UNUSABLE);
    }

    @Test
    void theArchiveThatEveryJdkBringsIsNoCacheOfOurs() {
        assertThat(AotCache.of(false, "mixed mode, sharing")).isEqualTo(AotCache.NONE);
    }

    @Test
    void theseTestsRunWithoutOne() {
        assertThat(AotCache.ofThisProcess()).isEqualTo(AotCache.NONE);
    }
}
