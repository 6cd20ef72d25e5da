package io.gpusharing.scheduler.picture.reading;

import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.entry;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.kubernetes.StreamedList;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.scheduler.testing.RecordingApiServer;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class DisruptionBudgetsTest {

    private static final String KIND = "/poddisruptionbudgets";

    private final RecordingApiServer api = new RecordingApiServer();

    @AfterEach
    void stop() {
        api.close();
    }

    private DisruptionBudgets read(String... budgets) {
        api.answer(
                KIND,
                "{\"metadata\": {\"resourceVersion\": \"1\"}, \"items\": [%s]}"
                        .formatted(String.join(",", budgets)));
        return read();
    }

    private DisruptionBudgets read() {
        return DisruptionBudgets.read(
                StreamedList.of(api.client(), PodDisruptionBudget.class),
                new UnreadableObjects(_ -> {}));
    }

    private static String guarding(String selector) {
        return """
        {"metadata": {"namespace": "lab", "name": "b"}, "spec": {"selector": %s},
         "status": {"disruptionsAllowed": 1}}
        """
                .formatted(selector);
    }

    private static Pod pod(String namespace, String app) {
        return new PodBuilder()
                .withNewMetadata()
                .withNamespace(namespace)
                .withLabels(Map.of("app", app))
                .endMetadata()
                .build();
    }

    @Test
    void guardsThePodsOfItsNamespaceThatItSelects() {
        DisruptionBudgets read = read(guarding("{\"matchLabels\": {\"app\": \"web\"}}"));

        assertThat(read.guarding(pod("lab", "web"))).containsExactly("lab/b");
        assertThat(read.guarding(pod("lab", "db"))).isEmpty();
        assertThat(read.guarding(pod("dev", "web"))).isEmpty();
        assertThat(read.allowed()).containsExactly(entry("lab/b", 1));
    }

    @Test
    void oneWithoutASpecGuardsNoPodAndLetsNobodyGo() {
        DisruptionBudgets read = read("{\"metadata\": {\"namespace\": \"lab\", \"name\": \"b\"}}");

        assertThat(read.guarding(pod("lab", "web"))).isEmpty();
        assertThat(read.allowed()).containsExactly(entry("lab/b", 0));
    }

    @Test
    void anEndlessSelectorIsNotKeptAndGuardsTheWholeNamespace() {
        String values =
                IntStream.range(0, 10_000).mapToObj("\"v%d\""::formatted).collect(joining(","));

        DisruptionBudgets read =
                read(
                        guarding(
                                "{\"matchExpressions\": [{\"key\": \"app\", \"operator\": \"In\", \"values\": [%s]}]}"
                                        .formatted(values)));

        assertThat(read.guarding(pod("lab", "web"))).containsExactly("lab/b");
        assertThat(read.guarding(pod("dev", "web"))).isEmpty();
    }

    @Test
    void whoMayNotListThemIsToldSo() {
        api.refuse(KIND, 403);

        assertThatExceptionOfType(KubernetesClientException.class)
                .isThrownBy(this::read)
                .extracting(KubernetesClientException::getCode)
                .isEqualTo(403);
    }
}
