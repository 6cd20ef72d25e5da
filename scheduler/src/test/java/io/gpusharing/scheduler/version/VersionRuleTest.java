package io.gpusharing.scheduler.version;

import static io.gpusharing.scheduler.version.VersionRule.SETTLED;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class VersionRuleTest {

    private static final Instant NOON = Instant.parse("2026-03-02T12:00:00Z");

    private final VersionRule rule = new VersionRule();

    private static KubernetesVersion version(String text) {
        return KubernetesVersion.parse(text).orElseThrow();
    }

    @ParameterizedTest
    @CsvSource({
        "v1.31.4, v1.31.4",
        "v1.31.4-eks-a737599, v1.31.4",
        "v1.33.1-gke.1584000, v1.33.1",
        "v1.30.14+k3s1, v1.30.14"
    })
    void theTagIsUpstreamsWhateverADistributionAdds(String server, String tag) {
        assertThat(version(server).tag()).isEqualTo(tag);
    }

    @ParameterizedTest
    @CsvSource({
        "latest",
        "1.31.4",
        "v1.31",
        "v1.31.4.5",
        "v99999999999.1.1",
        "v1.37.0-rc.1",
        "v1.37.0-alpha.2.15+abc",
        "v0.0.0-master+abc"
    })
    void whatIsNoReleaseIsNotFollowed(String text) {
        assertThat(KubernetesVersion.parse(text)).isEmpty();
    }

    @ParameterizedTest(name = "{0} beside {1}")
    @CsvSource({
        // Two minor releases or more behind are not supported.
        "v1.30.14, v1.36.3, v1.36.3",
        "v1.34.0, v1.36.3, v1.36.3",
        // One that is newer may wait for ever for what the API server does not have.
        "v1.36.3, v1.35.1, v1.35.1",
        "v2.0.0, v1.36.3, v1.36.3"
    })
    void oneThatCannotBeUsedIsReplacedAtOnce(String runs, String server, String next) {
        assertThat(rule.next(version(runs), version(server), false, NOON)).contains(version(next));
    }

    @Test
    void ofTheSameMinorReleaseAnyWillDo() {
        assertThat(rule.next(version("v1.30.14"), version("v1.30.5"), false, NOON)).isEmpty();
    }

    @Test
    void whereAPatchReleaseHasNoImageTheFirstOneHas() {
        assertThat(rule.next(version("v1.31.104"), version("v1.31.104"), true, NOON))
                .contains(version("v1.31.0"));
        assertThat(rule.next(version("v1.31.0"), version("v1.31.104"), true, NOON)).isEmpty();
    }

    @Test
    void whereAMirrorHasTheClustersOwnAloneItIsThatOne() {
        assertThat(rule.next(version("v1.36.0"), version("v1.36.3"), true, NOON))
                .contains(version("v1.36.3"));
        assertThat(rule.next(version("v1.36.3"), version("v1.36.3"), true, NOON)).isEmpty();
    }

    @Test
    void theSameStays() {
        assertThat(rule.next(version("v1.36.3"), version("v1.36.3"), false, NOON)).isEmpty();
    }

    @Test
    void aNewReleaseIsFollowedOnceNoOtherApiServerHasAnsweredForHalfAnHour() {
        KubernetesVersion old = version("v1.35.1");
        KubernetesVersion upgraded = version("v1.36.0");

        assertThat(rule.next(old, upgraded, false, NOON)).isEmpty();
        // Another API server, which is not upgraded yet.
        assertThat(rule.next(old, old, false, NOON.plusSeconds(600))).isEmpty();
        assertThat(rule.next(old, upgraded, false, NOON.plusSeconds(660))).isEmpty();
        assertThat(rule.next(old, upgraded, false, NOON.plus(SETTLED))).isEmpty();
        assertThat(rule.next(old, upgraded, false, NOON.plusSeconds(660).plus(SETTLED)))
                .contains(upgraded);
    }

    @ParameterizedTest
    @CsvSource({
        "registry.k8s.io/kube-scheduler:v1.30.14, registry.k8s.io/kube-scheduler, v1.30.14",
        "localhost:5000/kube-scheduler, localhost:5000/kube-scheduler,",
        "a/b@sha256:0123, a/b@sha256:0123,"
    })
    void anImageWithoutATagHasNoVersion(String image, String repository, String tag) {
        var read = SchedulerDeployment.Image.of(image, Optional.empty());

        assertThat(read.repository()).isEqualTo(repository);
        assertThat(read.tag()).isEqualTo(Optional.ofNullable(tag));
    }
}
