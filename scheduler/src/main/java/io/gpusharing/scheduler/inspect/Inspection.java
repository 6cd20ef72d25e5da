package io.gpusharing.scheduler.inspect;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import io.gpusharing.scheduler.gpus.NodeMemory;
import io.gpusharing.scheduler.gpus.NodeMemory.GpuMemory;
import io.gpusharing.sharing.ProviderAsk;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * What gpushare's extender answers to {@code inspect}. Amounts are GiB of memory: of what a GPU has
 * those that are whole, which is what the dialect {@code aliyun} offers of it, and of what is used
 * those that are begun.
 *
 * @param nodes those that share their GPUs, by name
 * @param error why there is nothing; empty if there is
 */
public record Inspection(
        List<Node> nodes, @JsonInclude(JsonInclude.Include.NON_EMPTY) String error) {

    /** The attribute of a request by someone who may see everybody's pods. */
    public static final String SHOWS_PODS = "io.gpusharing.scheduler.inspect.pods";

    /** A node, and the sum of its GPUs. */
    record Node(
            String name,
            @JsonProperty("totalGPU") long total,
            @JsonProperty("usedGPU") long used,
            @JsonProperty("devs") List<Device> devices) {

        private Node withoutPods() {
            return new Node(
                    name,
                    total,
                    used,
                    devices.stream()
                            .map(gpu -> new Device(gpu.id(), gpu.total(), gpu.used(), null))
                            .toList());
        }
    }

    /**
     * A GPU.
     *
     * @param id its number by NVML; where that is not known, its place in the list
     * @param used more than its pods have where one is being bound or has not quite gone
     * @param pods null where they are nobody's business
     */
    record Device(
            int id,
            @JsonProperty("totalGPU") long total,
            @JsonProperty("usedGPU") long used,
            @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable List<Pod> pods) {}

    /** A bound pod on a GPU, and what it has of this one. */
    record Pod(String name, String namespace, @JsonProperty("usedGPU") long used) {}

    /** Nothing, and why. */
    static Inspection failed(String error) {
        return new Inspection(List.of(), error);
    }

    static Inspection of(List<NodeMemory> nodes) {
        return new Inspection(
                nodes.stream()
                        .sorted(Comparator.comparing(NodeMemory::node))
                        .map(Inspection::node)
                        .toList(),
                "");
    }

    /** The same for those who may not see whose pods there are. */
    Inspection withoutPods() {
        return new Inspection(nodes.stream().map(Node::withoutPods).toList(), error);
    }

    private static Node node(NodeMemory node) {
        List<Device> devices =
                IntStream.range(0, node.gpus().size())
                        .mapToObj(place -> device(node.gpus().get(place), place))
                        .sorted(Comparator.comparingInt(Device::id))
                        .toList();
        return new Node(
                node.node(),
                devices.stream().mapToLong(Device::total).sum(),
                devices.stream().mapToLong(Device::used).sum(),
                devices);
    }

    private static Device device(GpuMemory gpu, int place) {
        Integer index = gpu.index();
        return new Device(
                index == null ? place : index,
                gpu.total() / ProviderAsk.MEBIBYTES_PER_ALIYUN_UNIT,
                begun(gpu.used(), gpu),
                gpu.pods().stream()
                        .map(pod -> new Pod(pod.name(), pod.namespace(), begun(pod.memory(), gpu)))
                        .sorted(Comparator.comparing(Pod::namespace).thenComparing(Pod::name))
                        .toList());
    }

    /** A whole GPU has no more than it has. */
    private static long begun(long mebibytes, GpuMemory of) {
        long units = Math.ceilDiv(mebibytes, ProviderAsk.MEBIBYTES_PER_ALIYUN_UNIT);
        return mebibytes <= of.total()
                ? Math.min(units, of.total() / ProviderAsk.MEBIBYTES_PER_ALIYUN_UNIT)
                : units;
    }
}
