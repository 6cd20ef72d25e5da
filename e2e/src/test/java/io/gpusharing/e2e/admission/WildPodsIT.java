package io.gpusharing.e2e.admission;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.gpusharing.testing.WildPod;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Pods in the shapes that popular software gives them, created on a real API server with us and
 * without us. Without us is kube-system, where neither our webhook nor our policy applies.
 */
@OnAdmissionCluster
class WildPodsIT {

    private static final String WITHOUT_US = "kube-system";
    private static final String WITH_US = "wild";

    private final Api api;

    WildPodsIT(AdmissionCluster cluster) {
        this.api = cluster.api();
    }

    @BeforeAll
    static void start(AdmissionCluster cluster) {
        cluster.withWebhook();
        cluster.namespace(WITH_US);
    }

    @Test
    void thereAreManyShapes() {
        assertThat(WildPod.all()).hasSizeGreaterThanOrEqualTo(25);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("io.gpusharing.testing.WildPod#all")
    void itDiffersFromThePodWithoutUsOnlyInOurKeys(WildPod shape) {
        ObjectNode without = api.dryRun(WITHOUT_US, Pods.of(shape.manifest())).orFail();

        ObjectNode with = api.create(WITH_US, Pods.of(shape.manifest())).orFail();

        assertThat(with.at("/metadata/labels/gpusharing.io~1metered").asText()).isEqualTo("true");
        assertThat(with.at("/spec/initContainers/0/name").asText())
                .isEqualTo("gpusharing-sidecar")
                .isEqualTo(Pods.annotation(with, "gpusharing.io/sidecar"));
        assertThat(Pods.withoutOurs(Pods.comparable(with))).isEqualTo(Pods.comparable(without));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("io.gpusharing.testing.WildPod#all")
    void aDryRunShowsWhatIsThenStored(WildPod shape) {
        ObjectNode pod = named(shape, "dry");

        ObjectNode shown = api.dryRun(WITH_US, pod).orFail();
        ObjectNode stored = api.create(WITH_US, pod).orFail();

        assertThat(Pods.comparable(shown)).isEqualTo(Pods.comparable(stored));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("io.gpusharing.testing.WildPod#all")
    void aNameMadeByTheApiServerChangesNothing(WildPod shape) {
        ObjectNode generated = Pods.of(shape.manifest());
        generated.withObject("/metadata").put("generateName", "made-").remove("name");

        ObjectNode stored = api.create(WITH_US, generated).orFail();
        ObjectNode named = api.dryRun(WITH_US, named(shape, "given")).orFail();

        assertThat(stored.at("/metadata/name").asText()).startsWith("made-");
        assertThat(Pods.comparable(stored)).isEqualTo(Pods.comparable(named));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("io.gpusharing.testing.WildPod#all")
    void aPodRecreatedFromItsStoredManifestIsUnchanged(WildPod shape) {
        ObjectNode stored = api.dryRun(WITH_US, named(shape, "first")).orFail();

        ObjectNode again =
                api.create(WITH_US, renamed(Pods.saved(stored), "again-" + shape.origin()))
                        .orFail();

        assertThat(Pods.comparable(again)).isEqualTo(Pods.comparable(stored));
    }

    @Test
    void aCopyOfAnOlderPodIsDecidedAnew() {
        ObjectNode stored = api.dryRun(WITH_US, Pods.halfAGpu("old")).orFail();
        ObjectNode copy = Pods.saved(stored);
        copy.withObject("/metadata/annotations")
                .put("gpusharing.io/standing-as-of", "2026-01-01T00:00:00Z")
                .put("gpusharing.io/placement", "7b0c;cuda=GPU-6d1f");

        ObjectNode again = api.dryRun(WITH_US, copy).orFail();

        assertThat(Pods.comparable(again)).isEqualTo(Pods.comparable(stored));
    }

    @Test
    void aMadeUpStampIsRefusedWithTheKeysToRemove() {
        ObjectNode pod = Pods.halfAGpu("made-up");
        pod.withObject("/metadata/annotations")
                .put("gpusharing.io/standing-as-of", "2026-01-01T00:00:00Z");

        Api.Answer refused = api.dryRun(WITH_US, pod);

        assertThat(refused.code()).isEqualTo(403);
        assertThat(refused.message())
                .contains(
                        "metadata.annotations[gpusharing.io/standing-as-of]: nobody but GPUSharing writes it here; remove it");
    }

    @Test
    void aGuaranteedPodStaysGuaranteed() {
        WildPod hpc =
                WildPod.all().stream()
                        .filter(shape -> shape.origin().equals("guaranteed-hpc"))
                        .findFirst()
                        .orElseThrow();

        ObjectNode stored = api.create(WITH_US, named(hpc, "qos")).orFail();

        assertThat(stored.at("/status/qosClass").asText()).isEqualTo("Guaranteed");
    }

    private static ObjectNode named(WildPod shape, String prefix) {
        return renamed(Pods.of(shape.manifest()), prefix + "-" + shape.origin());
    }

    private static ObjectNode renamed(ObjectNode pod, String name) {
        pod.withObject("/metadata").put("name", name).remove("generateName");
        return pod;
    }
}
