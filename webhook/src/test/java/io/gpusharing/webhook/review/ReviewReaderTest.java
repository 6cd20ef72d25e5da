package io.gpusharing.webhook.review;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.gpusharing.request.Quantity;
import java.util.Arrays;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ReviewReaderTest {

    private static final String KIND =
            "\"kind\": {\"group\": \"\", \"version\": \"v1\", \"kind\": \"Pod\"}";
    private static final String POD =
            """
            "object": {"metadata": {"name": "p", "labels": null, "annotations": {"a": "b"},
              "ownerReferences": [{"kind": "Other", "name": "x"},
                {"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "u", "controller": true}],
              "managedFields": [{"f:spec": {"f:containers": {"k:{}": {}}}}]},
             "spec": {"nodeName": "n", "priority": -5, "os": {"name": "linux"},
              "securityContext": {"runAsUser": 0, "fsGroup": 1},
              "volumes": [{"name": "h", "hostPath": {"path": "/dev"}}, {"name": "e", "emptyDir": {}}],
              "containers": [{"name": "c", "env": [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"}],
                "securityContext": {"privileged": true},
                "resources": {"limits": {"gpu": 3, "cpu": "1", "other": "no quantity"}, "requests": null}}],
              "initContainers": [{"name": "i", "restartPolicy": "Always"}]}}
            """;

    private final ReviewReader reader = new ReviewReader("gpu"::equals, _ -> false);

    @Test
    void aPodOfThousandsOfContainersIsRefusedBeforeItFillsTheMemory() {
        String pod =
                "\"object\": {\"spec\": {\"containers\": [{}%s]}}".formatted(",{}".repeat(1000));

        assertThatThrownBy(() -> reader.read(review("\"uid\": \"u1\", " + KIND + ", " + pod)))
                .isInstanceOf(MalformedReviewException.class)
                .hasMessageContaining("500 entries at most");
    }

    @Test
    void readsTheFewFieldsThatCount() {
        PodView pod = pod(review("\"uid\": \"u1\", " + KIND + ", " + POD));

        assertThat(pod.metadata().labels()).isNull();
        assertThat(pod.metadata().annotations()).isEqualTo(Map.of("a", "b"));
        assertThat(pod.metadata().controller())
                .isEqualTo(new PodView.Owner("batch/v1", "Job", "j", "u"));
        assertThat(pod.spec().nodeName()).isEqualTo("n");
        assertThat(pod.spec().priority()).isEqualTo(-5);
        assertThat(pod.spec().runAsUser()).isZero();
        assertThat(pod.volumes().getFirst().hostPath()).isEqualTo("/dev");
        PodView.Container container = pod.spec().containers().getFirst();
        assertThat(container.privileged()).isTrue();
        assertThat(container.setsVisibleDevices()).isTrue();
        assertThat(container.limits())
                .isEqualTo(Map.of("gpu", Quantity.of(3), "cpu", Quantity.of(1)));
        assertThat(container.requests()).isEmpty();
        assertThat(pod.initContainers().getFirst().alwaysRestarts()).isTrue();
        assertThat(new String(pod.initContainers().getFirst().source().bytes(), UTF_8))
                .isEqualTo("{\"name\": \"i\", \"restartPolicy\": \"Always\"}");
    }

    @Test
    void readsAVariableWhoseValueComesBeforeItsName() {
        String usual = "{\"name\": \"NVIDIA_VISIBLE_DEVICES\", \"value\": \"all\"}";
        String other = "{\"value\": \"all\", \"name\": \"NVIDIA_VISIBLE_DEVICES\"}";

        PodView pod = pod(review("\"uid\": \"u1\", " + KIND + ", " + POD.replace(usual, other)));

        assertThat(pod.spec().containers().getFirst().setsVisibleDevices()).isTrue();
    }

    @Test
    void refusesAVariableWithTwoNamesOfWhichOnlyOneCouldBeSeen() {
        String twice = "\"name\": \"A\", \"value\": \"all\", \"name\": \"NVIDIA_VISIBLE_DEVICES\"";
        String once = "\"name\": \"NVIDIA_VISIBLE_DEVICES\", \"value\": \"all\"";

        assertThatThrownBy(() ->
                        pod(review("\"uid\": \"u1\", " + KIND + ", " + POD.replace(once, twice))))
                .isInstanceOf(MalformedReviewException.class)
                .hasMessage("Duplicate field name");
    }

    @Test
    void readsTheSamePodWhereTheKindComesAfterTheObject() {
        PodView before = pod(review("\"uid\": \"u1\", " + KIND + ", " + POD));
        PodView after = pod(review(POD + ", " + KIND + ", \"uid\": \"u1\""));

        assertThat(after.metadata()).isEqualTo(before.metadata());
        assertThat(new String(after.initContainers().getFirst().source().bytes(), UTF_8))
                .isEqualTo(new String(before.initContainers().getFirst().source().bytes(), UTF_8));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "                                                        | This is not a JSON object",
                "garbage                                                 | This is not JSON",
                "[]                                                      | This is not a JSON object",
                "{\"a\": 1} {}                                           | There is more after the review",
                "{\"kind\": \"Pod\"}                                     | not an AdmissionReview",
                "{\"apiVersion\": \"admission.k8s.io/v1beta1\", \"kind\": \"AdmissionReview\"} | v1beta1",
                "{\"apiVersion\": \"admission.k8s.io/v1\", \"kind\": \"AdmissionReview\"} | no request",
                "{\"apiVersion\": \"admission.k8s.io/v1\", \"kind\": \"AdmissionReview\", \"request\": {}} | no uid",
                "{\"apiVersion\": \"admission.k8s.io/v1\", \"kind\": \"AdmissionReview\", \"request\": {\"uid\": \"u\"}} | no kind",
                "{\"apiVersion\": \"admission.k8s.io/v1\", \"kind\": \"AdmissionReview\", \"request\": {\"uid\": 5}} | /request/uid is not a string",
            })
    void saysInOneLineWhyItCannotAnswer(String document, String why) {
        String text = document == null ? "" : document;

        assertThatThrownBy(() -> reader.read(text.getBytes(UTF_8)))
                .isInstanceOf(MalformedReviewException.class)
                .hasMessageContaining(why)
                .hasMessageNotContaining("\n");
    }

    @Test
    void namesTheFieldThatIsNotWhatAPodHasThere() {
        String object = "\"object\": {\"spec\": {\"containers\": {}}}";

        assertThatThrownBy(() -> pod(review("\"uid\": \"u\", " + KIND + ", " + object)))
                .hasMessage("/request/object/spec/containers is not a list");
    }

    @Test
    void refusesAKeyThatIsThereTwice() {
        String object = "\"object\": {\"spec\": {}, \"spec\": {\"containers\": []}}";

        assertThatThrownBy(() -> pod(review("\"uid\": \"u\", " + KIND + ", " + object)))
                .isInstanceOf(MalformedReviewException.class)
                .hasMessageContaining("Duplicate");
    }

    @Test
    void passesOverWhatNobodyReadsHoweverDeepItIsNested() {
        String deep =
                "\"metadata\": {\"managedFields\": " + "[".repeat(9000) + "]".repeat(9000) + "}";

        PodView pod =
                pod(
                        review(
                                "\"uid\": \"u\", %s, \"object\": {%s, \"spec\": {\"containers\": [], \"schedulerName\": \"mine\"}}"
                                        .formatted(KIND, deep)));

        assertThat(pod.spec().schedulerName()).isEqualTo("mine");
    }

    @Test
    void aReviewThatEndsAnywhereIsMalformedAndNothingElse() {
        byte[] whole = review("\"uid\": \"u1\", " + KIND + ", " + POD);
        int end = new String(whole, UTF_8).lastIndexOf('}');

        for (int length = 0; length < end; length++) {
            byte[] part = Arrays.copyOf(whole, length);
            assertThatThrownBy(() -> reader.read(part))
                    .as("first %d bytes", length)
                    .isInstanceOf(MalformedReviewException.class);
        }
    }

    @Test
    void readsTheNamespaceFromTheBeginningOfAReview() {
        byte[] whole = review("\"uid\": \"u\", " + KIND + ", \"namespace\": \"team-a\", " + POD);
        int begin = new String(whole, UTF_8).indexOf("ownerReferences");

        assertThat(reader.namespace(whole)).isEqualTo("team-a");
        assertThat(reader.namespace(Arrays.copyOf(whole, begin))).isEqualTo("team-a");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "garbage",
                "[]",
                "{}",
                "{\"request\": null}",
                "{\"request\": {\"object\": {",
                "{\"request\": {\"namespace\": null}}",
                "{\"request\": {\"namespace\": 5}}",
                "{\"request\": {\"namespace\": \"tea"
            })
    void aBeginningThatNamesNoNamespaceIsNobodys(String begin) {
        assertThat(reader.namespace(begin.getBytes(UTF_8))).isEmpty();
    }

    private PodView pod(byte[] review) {
        return Objects.requireNonNull(reader.read(review).pod());
    }

    private static byte[] review(String request) {
        return ("{\"apiVersion\": \"admission.k8s.io/v1\", \"kind\": \"AdmissionReview\", \"request\": {"
                        + request
                        + "}}\n")
                .getBytes(UTF_8);
    }
}
