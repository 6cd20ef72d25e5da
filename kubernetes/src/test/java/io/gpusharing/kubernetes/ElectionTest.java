package io.gpusharing.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.kubernetes.Election.Claim;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class ElectionTest {

    private static final Instant NOW = Instant.parse("2026-03-02T10:00:00Z");
    private static final Duration LASTS = Duration.ofSeconds(15);

    private final Election election = new Election("a");

    private boolean isOpen(String holder, String version, int second) {
        return election.isOpen(new Claim(holder, version, LASTS), NOW.plusSeconds(second));
    }

    @Test
    void anothersLeaseIsOpenOnceItHasStoodUnchangedForItsDuration() {
        assertThat(isOpen("b", "1", 0)).isFalse();
        assertThat(isOpen("b", "1", 14)).isFalse();
        assertThat(isOpen("b", "1", 15)).isTrue();
    }

    @Test
    void eachRenewalRestartsTheWait() {
        assertThat(isOpen("b", "1", 0)).isFalse();
        assertThat(isOpen("b", "2", 14)).isFalse();
        assertThat(isOpen("b", "2", 28)).isFalse();
        assertThat(isOpen("b", "2", 29)).isTrue();
    }

    @Test
    void aRestartedContainerFindsItsOwnLeaseOpenAtOnce() {
        assertThat(isOpen("a", "1", 0)).isTrue();
    }

    @Test
    void aLeaseThatWasGivenBackIsOpenAtOnce() {
        assertThat(isOpen("b", "1", 0)).isFalse();
        assertThat(isOpen("", "2", 1)).isTrue();
    }
}
