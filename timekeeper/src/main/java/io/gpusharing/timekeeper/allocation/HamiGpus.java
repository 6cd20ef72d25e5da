package io.gpusharing.timekeeper.allocation;

import static java.util.stream.Collectors.joining;
import static java.util.stream.Collectors.toMap;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import io.gpusharing.kubernetes.PodFacts;
import io.gpusharing.request.ContainerRequest;
import io.gpusharing.request.ContainerRequest.Kind;
import io.gpusharing.request.NodeFacts;
import io.gpusharing.request.grammar.HamiGrammar;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/**
 * Which GPUs a pod has from HAMi, and what these are: its scheduler writes the one on the pod
 * before it binds it, its device plugin the other on the node.
 */
final class HamiGpus {

    private static final JsonMapper JSON = JsonMapper.builder().build();

    /** Stands before a model by NVML, since 2.7 only where that does not begin so. */
    private static final String VENDOR = "NVIDIA-";

    private HamiGpus() {}

    /** A GPU of the node's register. */
    @JsonIgnoreProperties(ignoreUnknown = true)
    private record Registered(@Nullable String id, long devmem, @Nullable String type) {}

    /**
     * GPUs of each container; empty where HAMi does not say it of all that ask for any. Where all
     * of a node are of one type its label has the model, as elsewhere.
     */
    static Map<String, List<PhysicalGpu>> of(PodFacts pod, NodeFacts node) {
        String allocated = pod.annotations().get(HamiGrammar.ALLOCATED);
        String register = node.annotations().get(NodeFacts.HAMI_REGISTER);
        if (allocated == null || register == null) {
            return Map.of();
        }
        List<String> parts =
                Arrays.stream(allocated.split(";", -1)).filter(it -> it.contains(",")).toList();
        List<ContainerRequest> asking =
                pod.request().containers().stream().filter(HamiGpus::asks).toList();
        boolean oneByOne =
                parts.size() == asking.size()
                        && asking.stream().allMatch(it -> it.kind() == Kind.App);
        if (parts.isEmpty() || !oneByOne) {
            return Map.of();
        }
        Map<String, PhysicalGpu> known = gpus(register);
        var found = new LinkedHashMap<String, List<PhysicalGpu>>();
        for (int i = 0; i < parts.size(); i++) {
            List<String> named =
                    Arrays.stream(parts.get(i).split(":", -1))
                            .filter(it -> it.contains(","))
                            .map(it -> it.substring(0, it.indexOf(',')).strip())
                            .toList();
            if (!known.keySet().containsAll(named)) {
                return Map.of();
            }
            found.put(
                    asking.get(i).name(),
                    named.stream().map(it -> Objects.requireNonNull(known.get(it))).toList());
        }
        return found;
    }

    /** The node as if it had these GPUs and no others. */
    static NodeFacts only(List<PhysicalGpu> gpus, NodeFacts node) {
        return new NodeFacts(
                node.capacity(),
                node.labels(),
                Map.of(
                        NodeFacts.HAMI_REGISTER,
                        gpus.stream()
                                .map(it -> "GPU,1,%d,100,,0,true:".formatted(it.memoryMiB()))
                                .collect(joining())));
    }

    private static boolean asks(ContainerRequest container) {
        return container.limits().entrySet().stream()
                .anyMatch(
                        it -> it.getKey().startsWith(HamiGrammar.COUNT) && !it.getValue().isZero());
    }

    private static Map<String, PhysicalGpu> gpus(String register) {
        List<Registered> all;
        try {
            all =
                    register.strip().startsWith("[")
                            ? List.of(JSON.readValue(register, Registered[].class))
                            : columns(register);
        } catch (JacksonException | IllegalArgumentException e) {
            return Map.of();
        }
        boolean alike = all.stream().map(Registered::type).distinct().count() < 2;
        return all.stream()
                .filter(it -> it.id() != null && it.devmem() > 0)
                .collect(
                        toMap(
                                it -> Objects.requireNonNull(it.id()),
                                it -> PhysicalGpu.of(alike ? null : model(it.type()), it.devmem()),
                                (one, same) -> one));
    }

    private static @Nullable String model(@Nullable String type) {
        return type != null && type.startsWith(VENDOR) ? type.substring(VENDOR.length()) : type;
    }

    /** Before 2.5: {@code id,count,devmem,devcore,type,numa,health}, a colon after each. */
    private static List<Registered> columns(String register) {
        var all = new ArrayList<Registered>();
        for (String gpu : register.split(":", -1)) {
            String[] columns = gpu.split(",", -1);
            if (columns.length > 4) {
                long memory = NodeFacts.decimal(columns[2]).orElse(0);
                all.add(new Registered(columns[0].strip(), memory, columns[4]));
            }
        }
        return all;
    }
}
