package io.gpusharing.timekeeper.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.request.Quantity;
import io.gpusharing.request.grammar.RequestGrammars;
import io.gpusharing.timekeeper.testing.FakeApiServer;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class NodeWatchTest {

    private final FakeApiServer api = new FakeApiServer();
    private final UnreadableObjects unreadable = new UnreadableObjects(object -> {});
    private final ClusterView view = new ClusterView();
    private final NodeWatch watch =
            new NodeWatch(
                    api.client(),
                    RequestGrammars.of(List.of("vcuda"), List.of()),
                    view,
                    unreadable);

    NodeWatchTest() throws IOException {}

    @AfterEach
    void stop() {
        watch.close();
        api.close();
    }

    @Test
    void findsTheGpusThatNodesOfferWhetherAGrammarReadsThemOrNot() {
        api.answer(
                "/nodes",
                """
                {"apiVersion": "v1", "kind": "NodeList", "metadata": {"resourceVersion": "1"}, "items": [
                  {"metadata": {"name": "a"}, "status": {"capacity":
                    {"cpu": "8", "nvidia.com/gpu": "4", "tencent.com/vcuda-core": "400", "rdma/hca": "1"}}}]}
                """);
        assertThat(watch.offered()).as("nothing was listed").isEmpty();

        watch.start();

        await().untilAsserted(() ->
                assertThat(watch.offered())
                        .contains(
                                List.of(
                                        Map.of(
                                                "nvidia.com/gpu",
                                                Quantity.of(4),
                                                "tencent.com/vcuda-core",
                                                Quantity.of(400)))));
        await().untilAsserted(() ->
                assertThat(view.node("a").orElseThrow().capacity())
                        .containsOnlyKeys("tencent.com/vcuda-core"));
    }

    @Test
    void aNodeThatCannotBeReadHidesNoOther() {
        api.answer(
                "/nodes",
                """
                {"apiVersion": "v1", "kind": "NodeList", "metadata": {"resourceVersion": "1"}, "items": [
                  {"metadata": {"name": "odd"}, "status": {"capacity": {"tencent.com/vcuda-core": "4x"}}},
                  {"metadata": {"name": "a"}, "status": {"capacity": {"tencent.com/vcuda-core": "400"}}}]}
                """);

        watch.start();

        await().untilAsserted(() -> assertThat(watch.offered()).isPresent());
        assertThat(watch.offered().orElseThrow())
                .containsExactly(Map.of("tencent.com/vcuda-core", Quantity.of(400)));
        assertThat(view.node("a")).isPresent();
        assertThat(unreadable.present()).extracting(it -> it.name()).containsExactly("odd");
    }
}
