package io.gpusharing.cli.inspect;

import static io.gpusharing.kubernetes.ResourceReader.amounts;
import static io.gpusharing.kubernetes.ResourceReader.request;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.gpusharing.cli.inspect.Host.Source;
import io.gpusharing.kubernetes.PodPhase;
import io.gpusharing.placement.PlacementReader;
import io.gpusharing.request.ContainerRequest.Kind;
import io.gpusharing.request.PodRequest;
import io.gpusharing.request.grammar.AliyunGrammar;
import io.gpusharing.request.grammar.RequestGrammars;
import io.gpusharing.request.grammar.VcudaGrammar;
import io.gpusharing.sharing.Amounts;
import io.gpusharing.sharing.GpuAsk;
import io.gpusharing.wire.GpuHold;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Reads which pod has which GPU from what gpu-manager and gpushare write on pods, where no device
 * plugin of ours says it. Both take all GPUs of a node to be alike, and number them from 0.
 */
final class AnnotationReader {

    private static final PlacementReader VCUDA =
            new PlacementReader(RequestGrammars.of(List.of("vcuda"), List.of()), json -> List.of());

    private static final int VCUDA_UNIT_MIB = 256;
    private static final long WHOLE_CORE = 100;

    /** Number of the one GPU on which a pod of gpushare is. */
    private static final String GPUSHARE_INDEX = "ALIYUN_COM_GPU_MEM_IDX";

    /**
     * A plugin that hands out more units of a GPU counts MiB. gpushare's own inspect takes more
     * than 100 for MiB, and so the 140 GiB of an H200, too.
     */
    private static final long MOST_GIB = 1_000;

    private static final int MIB_PER_GIB = 1024;

    private final String node;
    private final @Nullable String address;
    private final Amounts allocatable;
    private final int count;

    private AnnotationReader(Node node) {
        this.node = node.getMetadata().getName();
        this.address = Host.address(node);
        this.allocatable = amounts(node.getStatus().getAllocatable());
        this.count = (int) (gpuManager() ? vcuda(VcudaGrammar.CORE) / WHOLE_CORE : gpushareGpus());
    }

    /** Whether pods of the node may have such annotations. */
    static boolean reads(Node node) {
        var reader = new AnnotationReader(node);
        return reader.gpuManager() || reader.gpushareMemory() > 0;
    }

    /**
     * @param pods of any node
     */
    static Host read(Node node, List<Pod> pods) {
        var reader = new AnnotationReader(node);
        List<Pod> running =
                pods.stream()
                        .filter(it -> reader.node.equals(it.getSpec().getNodeName()))
                        .filter(it -> !PodPhase.hasEnded(it))
                        .toList();
        return reader.gpuManager() ? reader.gpuManager(running) : reader.gpushare(running);
    }

    private boolean gpuManager() {
        return vcuda(VcudaGrammar.CORE) >= WHOLE_CORE;
    }

    private long vcuda(String resource) {
        return allocatable.of(resource).longValue();
    }

    private long gpushareMemory() {
        return allocatable.of(AliyunGrammar.MEMORY).longValue();
    }

    private long gpushareGpus() {
        return allocatable.of(AliyunGrammar.COUNT).longValue();
    }

    private Host gpuManager(List<Pod> pods) {
        long memory = vcuda(VcudaGrammar.MEMORY) / count * VCUDA_UNIT_MIB;
        var parts = new Parts();
        for (Pod pod : pods) {
            PodRequest request = request(pod.getSpec(), it -> it.startsWith("tencent.com/vcuda-"));
            List<GpuAsk> asks = VCUDA.asks(request);
            List<GpuHold> holds = VCUDA.holds(request, annotations(pod));
            if (holds == null) {
                parts.add(
                        Parts.UNKNOWN,
                        pod,
                        asks.stream().mapToLong(it -> it.count() * it.cores()).sum(),
                        asks.stream()
                                .mapToLong(
                                        it -> it.count() * memory(it.whole(), it.memory(), memory))
                                .sum());
                continue;
            }
            for (GpuHold hold : holds) {
                parts.add(
                        parts.index(hold.gpu()),
                        pod,
                        hold.whole() ? WHOLE_CORE : hold.cores(),
                        memory(hold.whole(), hold.memory(), memory));
            }
        }
        return parts.host(Source.GpuManager, VCUDA_UNIT_MIB, WHOLE_CORE, memory);
    }

    private static long memory(boolean whole, long blocks, long ofGpu) {
        return whole ? ofGpu : blocks * VCUDA_UNIT_MIB;
    }

    private Host gpushare(List<Pod> pods) {
        long units = count == 0 ? 0 : gpushareMemory() / count;
        int unit = units > MOST_GIB ? 1 : MIB_PER_GIB;
        var parts = new Parts();
        for (Pod pod : pods) {
            long asked = limits(pod);
            if (asked > 0) {
                parts.add(
                        parts.index(annotations(pod).getOrDefault(GPUSHARE_INDEX, "")),
                        pod,
                        null,
                        asked * unit);
            }
        }
        return parts.host(Source.Gpushare, unit, null, units * unit);
    }

    /** What gpushare counts: the limits of the app containers together. */
    private static long limits(Pod pod) {
        return request(pod.getSpec(), AliyunGrammar.MEMORY::equals).containers().stream()
                .filter(it -> it.kind() == Kind.App)
                .mapToLong(it -> Amounts.of(it.limits()).of(AliyunGrammar.MEMORY).longValue())
                .sum();
    }

    private static Map<String, String> annotations(Pod pod) {
        Map<String, String> annotations = pod.getMetadata().getAnnotations();
        return annotations == null ? Map.of() : annotations;
    }

    /** What pods have of each GPU of the node. */
    private final class Parts {

        static final int UNKNOWN = -1;

        private final List<List<PodPart>> byGpu =
                IntStream.range(0, count).<List<PodPart>>mapToObj(it -> new ArrayList<>()).toList();
        private final List<PodPart> unplaced = new ArrayList<>();

        /** What is no number of a GPU that there is says nothing. */
        int index(String text) {
            int index = text.matches("[0-9]{1,4}") ? Integer.parseInt(text) : UNKNOWN;
            return index < count ? index : UNKNOWN;
        }

        /** Adds to what the pod has of this GPU by other containers. */
        void add(int index, Pod pod, @Nullable Long core, long memoryMiB) {
            List<PodPart> parts = index == UNKNOWN ? unplaced : byGpu.get(index);
            String namespace = pod.getMetadata().getNamespace();
            String name = pod.getMetadata().getName();
            PodPart last = parts.isEmpty() ? null : parts.getLast();
            if (last != null && last.namespace().equals(namespace) && last.pod().equals(name)) {
                parts.removeLast();
                parts.add(last.with(core, memoryMiB));
            } else {
                parts.add(new PodPart(namespace, name, core, memoryMiB));
            }
        }

        Host host(Source source, int unitMiB, @Nullable Long core, long memoryMiB) {
            return new Host(
                    node,
                    address,
                    source,
                    null,
                    unitMiB,
                    IntStream.range(0, count)
                            .mapToObj(index -> gpu(index, core, memoryMiB))
                            .toList(),
                    unplaced);
        }

        private HostGpu gpu(int index, @Nullable Long core, long memoryMiB) {
            List<PodPart> pods = byGpu.get(index);
            boolean whole = core != null && pods.size() == 1 && core.equals(pods.getFirst().core());
            String state = pods.isEmpty() ? HostGpu.IDLE : whole ? HostGpu.WHOLE : HostGpu.SHARED;
            return new HostGpu(index, null, null, state, null, core, memoryMiB, pods);
        }
    }
}
