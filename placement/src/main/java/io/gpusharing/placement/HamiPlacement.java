package io.gpusharing.placement;

import static io.gpusharing.request.NodeFacts.HAMI_REGISTER;
import static io.gpusharing.request.grammar.HamiGrammar.ALLOCATED;
import static io.gpusharing.request.grammar.HamiGrammar.CORES;
import static io.gpusharing.request.grammar.HamiGrammar.COUNT;
import static io.gpusharing.request.grammar.HamiGrammar.MEMORY;
import static io.gpusharing.request.grammar.HamiGrammar.MEMORY_PERCENTAGE;

import io.gpusharing.request.ContainerRequest;
import io.gpusharing.sharing.Amounts;
import io.gpusharing.sharing.GpuAsk;
import io.gpusharing.wire.GpuHold;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Which physical GPUs a pod holds, as HAMi's scheduler writes it: annotation {@code
 * hami.io/vgpu-devices-allocated}, for each container that has GPUs {@code UUID,type,MiB,cores:}
 * once a GPU, containers joined by {@code ;}. And what a GPU has to have for another, as HAMi
 * checks it: memory, cores, nobody else on it for one that wants all cores. The number of pods that
 * may share a GPU is not checked here.
 */
final class HamiPlacement {

    private static final BigDecimal ENDLESS = BigDecimal.TEN.pow(18);

    /** Parts of GPUs, which the scheduler leaves to HAMi to count: it never runs out of them. */
    static final Amounts PARTS =
            new Amounts(Map.of(MEMORY, ENDLESS, MEMORY_PERCENTAGE, ENDLESS, CORES, ENDLESS));

    private static final String CORDONED = "hami.io/device-cordon";

    /** By these a pod chooses among GPUs. */
    private static final List<String> CHOICES =
            List.of(
                    "nvidia.com/use-gputype",
                    "nvidia.com/nouse-gputype",
                    "nvidia.com/use-gpuuuid",
                    "nvidia.com/nouse-gpuuuid",
                    "nvidia.com/numa-bind",
                    "nvidia.com/vgpu-mode");

    private static final int ALL = 100;

    private HamiPlacement() {}

    static boolean readsOfPod(String annotation) {
        return annotation.equals(ALLOCATED) || CHOICES.contains(annotation);
    }

    static boolean readsOfNode(String annotation) {
        return annotation.equals(HAMI_REGISTER) || annotation.equals(CORDONED);
    }

    /**
     * All GPUs of a node; null if HAMi does not say, or shares one of them by MIG.
     *
     * @param json reads a register that is a JSON list, which it is since 2.5
     */
    static @Nullable GpuLayout layout(
            Map<String, String> annotations, Function<String, List<HamiGpu>> json) {
        String register = annotations.getOrDefault(HAMI_REGISTER, "").strip();
        List<String> cordoned = List.of(annotations.getOrDefault(CORDONED, "").split(",", -1));
        try {
            List<HamiGpu> gpus =
                    register.startsWith("[") ? json.apply(register) : columns(register);
            boolean mig = gpus.stream().anyMatch(gpu -> "mig".equals(gpu.mode()));
            return mig || gpus.isEmpty()
                    ? null
                    : new GpuLayout(
                            gpus.stream()
                                    .filter(gpu -> gpu.health() && !cordoned.contains(gpu.id()))
                                    .map(gpu -> new Gpu(gpu.id(), gpu.devcore(), gpu.devmem()))
                                    .toList());
        } catch (IllegalArgumentException | ArrayIndexOutOfBoundsException e) {
            return null;
        }
    }

    /** Before 2.5: columns, with a colon after each GPU. */
    private static List<HamiGpu> columns(String register) {
        return Arrays.stream(register.split(":", -1))
                .filter(gpu -> !gpu.isBlank())
                .map(gpu -> gpu.split(",", -1))
                .map(gpu ->
                        new HamiGpu(
                                gpu[0],
                                Long.parseLong(gpu[2]),
                                Long.parseLong(gpu[3]),
                                Boolean.parseBoolean(gpu[6]),
                                null))
                .toList();
    }

    /** Why its place cannot be judged from here, in words; null if it can. */
    static @Nullable String unjudged(
            List<ContainerRequest> initContainers, Map<String, String> annotations) {
        if (initContainers.stream().anyMatch(it -> ask(it).count() > 0)) {
            return "its init containers ask for GPUs";
        }
        return CHOICES.stream()
                .filter(annotations::containsKey)
                .findFirst()
                .map("it chooses among GPUs by %s"::formatted)
                .orElse(null);
    }

    /** What the pod holds of which GPU; null if not of all that it asks for. */
    static @Nullable List<GpuHold> holds(
            List<ContainerRequest> containers, Map<String, String> annotations) {
        int asked = containers.stream().mapToInt(it -> ask(it).count()).sum();
        var holds = new ArrayList<GpuHold>();
        try {
            for (String gpu : annotations.getOrDefault(ALLOCATED, "").split("[:;]", -1)) {
                String[] columns = gpu.strip().split(",", -1);
                if (columns.length >= 4) {
                    long cores = Long.parseLong(columns[3]);
                    holds.add(
                            new GpuHold(
                                    columns[0], cores, Long.parseLong(columns[2]), cores == ALL));
                }
            }
        } catch (NumberFormatException e) {
            return null;
        }
        // More would be those of init containers, which are not held any more.
        return holds.size() == asked ? holds : null;
    }

    /** What a container asks of physical GPUs. */
    static GpuAsk ask(ContainerRequest container) {
        Amounts limits = Amounts.of(container.limits());
        long memory = limits.units(MEMORY);
        int percent = (int) limits.units(MEMORY_PERCENTAGE);
        long cores = limits.units(CORES);
        boolean part = memory > 0 || percent > 0 || cores > 0;
        int count = Math.max((int) limits.units(COUNT), part ? 1 : 0);
        boolean allOfIt = memory == 0 && (percent == 0 || percent == ALL);
        return allOfIt || cores == ALL
                ? new GpuAsk(count, ALL, 0, true)
                : new GpuAsk(count, cores, memory, percent, false);
    }
}
