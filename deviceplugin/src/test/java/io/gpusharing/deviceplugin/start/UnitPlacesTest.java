package io.gpusharing.deviceplugin.start;

import static io.gpusharing.deviceplugin.start.FakeNode.container;
import static io.gpusharing.deviceplugin.start.FakeNode.half;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.deviceplugin.cluster.NodePod;
import io.gpusharing.deviceplugin.dialect.UnitIds;
import io.gpusharing.request.ContainerRequest.Kind;
import io.gpusharing.wire.PlacementAnnotation;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** GPU-0 is on NUMA node 0, and GPU-1 on node 1. */
class UnitPlacesTest {

    @TempDir private Path folder;
    private FakeNode node;

    @BeforeEach
    void start() throws IOException {
        node = new FakeNode(folder);
        node.numaNodes.putAll(Map.of("0000:00", 0, "0000:01", 1));
    }

    @Test
    void theKubeletIsToldOnWhichNumaNodeEachUnitIs() {
        assertThat(node.numaNodesOfUnits())
                .hasSize(200)
                .containsEntry("g0-99", 0)
                .containsEntry("g1-0", 1);
    }

    @Test
    void whatTheComputerDoesNotSayIsNotToldEither() {
        node.numaNodes.remove("0000:01");
        assertThat(node.numaNodesOfUnits()).hasSize(100).doesNotContainKey("g1-0");

        node.numaNodes.clear();
        assertThat(node.numaNodesOfUnits()).isEmpty();
    }

    @Test
    void aPodThatNobodyPlacedGetsAGpuOfTheNodeThatTheKubeletChose() throws Exception {
        NodePod pod = node.pod("a", half("cuda"));
        node.admit(pod, "cuda", units(1, 50));

        node.start(units(1, 50));

        assertThat(node.gpuOf(pod)).isEqualTo("GPU-1");
    }

    @Test
    void itGetsAnotherOneWhereThatNodeHasNoRoom() throws Exception {
        NodePod first = node.pod("a", container("cuda", Kind.App, 80, 16));
        node.admit(first, "cuda", units(1, 80));
        node.start(units(1, 80));
        NodePod second = node.pod("b", half("cuda"));
        String[] rest = {"g1-98", "g1-99"};
        node.admit(second, "cuda", rest);

        node.start(rest);

        assertThat(node.gpuOf(second)).isEqualTo("GPU-0");
    }

    /** Else a kubelet would refuse the next pod, because each node seems to have half a GPU. */
    @Test
    void unitsAreWhereTheirHolderWasPlaced() throws Exception {
        for (String uid : List.of("a", "b")) {
            NodePod pod =
                    node.annotated(
                            node.pod(uid, half("cuda")),
                            PlacementAnnotation.KEY,
                            uid + ";cuda=GPU-0");
            String[] units = uid.equals("a") ? units(0, 50) : units(1, 50);
            node.admit(pod, "cuda", units);
            node.start(units);
        }

        Map<String, Integer> places = node.numaNodesOfUnits();

        assertThat(places).containsEntry("g0-0", 0).containsEntry("g1-0", 0);
        List<String> free =
                places.keySet().stream()
                        .filter(id -> !List.of(units(0, 50)).contains(id))
                        .filter(id -> !List.of(units(1, 50)).contains(id))
                        .toList();
        assertThat(free).hasSize(100).allMatch(id -> places.getOrDefault(id, -1) == 1);
        assertThat(Collections.frequency(places.values(), 1)).isEqualTo(100);
        // A whole GPU is there, and by the units' names there is none.
        assertThat(node.preferred(free, 100)).containsExactlyInAnyOrderElementsOf(free);
    }

    private static String[] units(int gpu, int count) {
        return IntStream.range(0, count)
                .mapToObj(unit -> UnitIds.id(gpu, unit))
                .toArray(String[]::new);
    }
}
