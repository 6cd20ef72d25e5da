package io.gpusharing.scheduler.pods;

import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import io.gpusharing.scheduler.cluster.LeanObjects;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class DisruptionBudgetsTest {

    private final DisruptionBudgets budgets = new DisruptionBudgets();

    private static PodDisruptionBudget budget(String json) {
        return LeanObjects.serialization().unmarshal(json, PodDisruptionBudget.class);
    }

    private DisruptionBudgets read(String... all) {
        Stream.of(all).map(DisruptionBudgetsTest::budget).forEach(budgets::onUpdate);
        return budgets;
    }

    private static String guarding(String selector) {
        return """
        {"metadata": {"namespace": "lab", "name": "b"}, "spec": {"selector": %s},
         "status": {"disruptionsAllowed": 1}}
        """
                .formatted(selector);
    }

    private static Set<String> guards(DisruptionBudgets read, String namespace, String app) {
        return read.guarding(namespace, Map.of("app", app));
    }

    @Test
    void guardsThePodsOfItsNamespaceThatItSelects() {
        DisruptionBudgets read = read(guarding("{\"matchLabels\": {\"app\": \"web\"}}"));

        assertThat(guards(read, "lab", "web")).containsExactly("lab/b");
        assertThat(guards(read, "lab", "db")).isEmpty();
        assertThat(guards(read, "dev", "web")).isEmpty();
        assertThat(read.allowed()).containsExactly(entry("lab/b", 1));
    }

    @Test
    void oneWithoutASpecGuardsNoPodAndLetsNobodyGo() {
        DisruptionBudgets read = read("{\"metadata\": {\"namespace\": \"lab\", \"name\": \"b\"}}");

        assertThat(guards(read, "lab", "web")).isEmpty();
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

        assertThat(guards(read, "lab", "web")).containsExactly("lab/b");
        assertThat(guards(read, "dev", "web")).isEmpty();
    }

    @Test
    void oneThatIsGoneGuardsNobody() {
        String guard = guarding("{\"matchLabels\": {\"app\": \"web\"}}");
        read(guard).onDelete(budget(guard));

        assertThat(guards(budgets, "lab", "web")).isEmpty();
        assertThat(budgets.allowed()).isEmpty();
    }
}
