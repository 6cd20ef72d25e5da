package io.gpusharing.timekeeper.reclaim.plan;

import static io.gpusharing.request.HamiGrammar.CORES;
import static io.gpusharing.request.HamiGrammar.COUNT;
import static io.gpusharing.request.HamiGrammar.MEMORY;
import static io.gpusharing.request.HamiGrammar.MEMORY_PERCENTAGE;
import static io.gpusharing.request.HamiGrammar.NODE_ANNOTATION;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import io.fabric8.kubernetes.api.model.Container;
import io.gpusharing.placement.Gpu;
import io.gpusharing.placement.GpuAsk;
import io.gpusharing.placement.GpuHold;
import io.gpusharing.placement.GpuLayout;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/**
 * Which physical GPUs a pod holds, as HAMi's scheduler writes it: annotation {@code
 * hami.io/vgpu-devices-allocated}, for each container that has GPUs {@code UUID,type,MiB,cores:}
 * once a GPU, containers joined by {@code ;}. And what a GPU has to have for another, as HAMi
 * checks it: memory, cores, nobody else on it for one that wants all cores. The number of pods that
 * may share a GPU is not looked at here.
 */
final class HamiPlacement {

    private static final BigDecimal ENDLESS = BigDecimal.TEN.pow(18);

    /** Parts of GPUs, which the scheduler leaves to HAMi to count: it never runs out of them. */
    static final Amounts PARTS =
            new Amounts(Map.of(MEMORY, ENDLESS, MEMORY_PERCENTAGE, ENDLESS, CORES, ENDLESS));

    private static final String ALLOCATED = "hami.io/vgpu-devices-allocated";
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

    private static final JsonMapper JSON = JsonMapper.builder().build();
    private static final int ALL = 100;

    private HamiPlacement() {}

    @JsonIgnoreProperties(ignoreUnknown = true)
    private record Registered(
            String id, long devmem, long devcore, boolean health, @Nullable String mode) {

        /** Since 2.5 a JSON list, before that columns with a colon after each GPU. */
        static List<Registered> of(String text) {
            return text.startsWith("[")
                    ? List.of(JSON.readValue(text, Registered[].class))
                    : Arrays.stream(text.split(":", -1))
                            .filter(gpu -> !gpu.isBlank())
                            .map(gpu -> of(gpu.split(",", -1)))
                            .toList();
        }

        private static Registered of(String[] columns) {
            return new Registered(
                    columns[0],
                    Long.parseLong(columns[2]),
                    Long.parseLong(columns[3]),
                    Boolean.parseBoolean(columns[6]),
                    null);
        }
    }

    /** All GPUs of a node; null if HAMi does not say, or shares one of them by MIG. */
    static @Nullable GpuLayout layout(Map<String, String> annotations) {
        String register = annotations.get(NODE_ANNOTATION);
        if (register == null) {
            return null;
        }
        List<String> cordoned = List.of(annotations.getOrDefault(CORDONED, "").split(",", -1));
        try {
            List<Registered> gpus = Registered.of(register.strip());
            boolean mig = gpus.stream().anyMatch(gpu -> "mig".equals(gpu.mode()));
            return mig || gpus.isEmpty()
                    ? null
                    : new GpuLayout(
                            gpus.stream()
                                    .filter(gpu -> gpu.health() && !cordoned.contains(gpu.id()))
                                    .map(gpu -> new Gpu(gpu.id(), gpu.devcore(), gpu.devmem()))
                                    .toList());
        } catch (JacksonException | IllegalArgumentException | ArrayIndexOutOfBoundsException e) {
            return null;
        }
    }

    /** What each container asks of physical GPUs. */
    static List<GpuAsk> asks(List<Container> containers) {
        return containers.stream().map(HamiPlacement::ask).filter(ask -> ask.count() > 0).toList();
    }

    /** Why its place cannot be judged from here, in words; null if it can. */
    static @Nullable String unjudged(
            List<Container> initContainers, Map<String, String> annotations) {
        if (!asks(initContainers).isEmpty()) {
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
            List<Container> containers, Map<String, String> annotations) {
        int asked = asks(containers).stream().mapToInt(GpuAsk::count).sum();
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

    private static GpuAsk ask(Container container) {
        Amounts limits =
                container.getResources() == null
                        ? Amounts.NONE
                        : PodAmounts.amounts(
                                Objects.requireNonNullElse(
                                        container.getResources().getLimits(), Map.of()));
        long memory = limits.of(MEMORY).longValue();
        int percent = limits.of(MEMORY_PERCENTAGE).intValue();
        long cores = limits.of(CORES).longValue();
        boolean part = memory > 0 || percent > 0 || cores > 0;
        int count = Math.max(limits.of(COUNT).intValue(), part ? 1 : 0);
        boolean allOfIt = memory == 0 && (percent == 0 || percent == ALL);
        return allOfIt || cores == ALL
                ? new GpuAsk(count, ALL, 0, true)
                : new GpuAsk(count, cores, memory, percent, false);
    }
}
