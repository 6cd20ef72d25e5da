package io.gpusharing.timekeeper.budget.status;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.timekeeper.budget.BudgetProperties;
import io.gpusharing.timekeeper.budget.BudgetProperties.UnnamedNamespaces;
import io.gpusharing.timekeeper.testing.FakeApiServer;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class NamespaceWatchTest {

    private static final List<String> NAMES =
            List.of("team-a", "taem-b", "kube-system", "gpusharing-system");

    private final FakeApiServer api = new FakeApiServer();
    private final NamespaceWatch watch =
            new NamespaceWatch(
                    api.client(),
                    new BudgetProperties(
                            UnnamedNamespaces.Unlimited,
                            null,
                            Duration.ofHours(1),
                            Duration.ofSeconds(1),
                            Duration.ofSeconds(10),
                            Duration.ofSeconds(30),
                            false,
                            List.of("kube-system")),
                    new UnreadableObjects(object -> {}),
                    "gpusharing-system");

    NamespaceWatchTest() throws IOException {}

    @AfterEach
    void stop() {
        watch.stop();
        api.close();
    }

    @Test
    void findsNamesThatMatchNoNamespace() {
        api.answer(
                "/namespaces",
                """
                {"apiVersion": "v1", "kind": "NamespaceList", "metadata": {"resourceVersion": "1"}, "items": [
                  {"metadata": {"name": "team-a"}}, {"metadata": {"name": "kube-system"}},
                  {"metadata": {"name": "gpusharing-system"}}]}
                """);
        var calls = new AtomicInteger();
        watch.listen(calls::incrementAndGet);
        assertThat(watch.among(NAMES)).as("nothing was listed").isEmpty();

        watch.start();

        await().untilAsserted(() ->
                assertThat(watch.among(NAMES))
                        .contains(
                                new UnmatchedNamespaces(
                                        List.of("taem-b"),
                                        List.of("kube-system", "gpusharing-system"))));
        await().until(() -> calls.get() >= 3);
    }

    @Test
    void saysNothingWhileItMayNotListThem() {
        api.refuse("/namespaces", 403);

        watch.start();

        await().until(() -> !api.to("/namespaces").isEmpty());
        assertThat(watch.among(NAMES)).isEmpty();
    }
}
