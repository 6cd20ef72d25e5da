package io.gpusharing.recount;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.MissingNode;

/**
 * What a part of a GPU's memory is a part of, for each container of a pod: of the GPU on which its
 * placement says that it is, by the word of its node's {@code GpuNode}; else all GPUs of the node
 * are taken to be alike.
 */
final class Gpus {

    private static final String CORE = "tencent.com/vcuda-core";
    private static final String MEMORY = "tencent.com/vcuda-memory";
    private static final BigDecimal HUNDRED = BigDecimal.valueOf(100);
    private static final BigDecimal MEBIBYTES = BigDecimal.valueOf(256);

    private final JsonNode capacity;
    private final Map<String, BigDecimal> blocks = new HashMap<>();
    private final boolean missing;
    private final BigDecimal one;

    /**
     * @param memory MiB of the node's GPUs by UUID, where the log shows its {@code GpuNode}
     */
    Gpus(JsonNode pod, JsonNode capacity, @Nullable Map<String, BigDecimal> memory) {
        this.capacity = capacity;
        Map<String, List<String>> placed = placed(pod);
        Set<String> named = new HashSet<>();
        placed.values().forEach(named::addAll);
        Map<String, BigDecimal> known = memory == null ? Map.of() : memory;
        this.missing = !known.keySet().containsAll(named);
        for (Map.Entry<String, List<String>> container : placed.entrySet()) {
            // Whole ones come first, and a container has a part of one at most.
            BigDecimal all = known.getOrDefault(container.getValue().getLast(), BigDecimal.ZERO);
            if (!missing && all.compareTo(MEBIBYTES) >= 0) {
                blocks.put(container.getKey(), all.divide(MEBIBYTES, 0, RoundingMode.DOWN));
            }
        }
        BigDecimal product = reportsMemory() ? Amounts.of(capacity, MEMORY) : BigDecimal.ONE;
        for (BigDecimal each : new HashSet<>(blocks.values())) {
            product = product.multiply(each);
        }
        this.one = product.multiply(HUNDRED);
    }

    /** Those of a node that are all alike, as far as its capacity says. */
    static Gpus alike(JsonNode capacity) {
        return new Gpus(MissingNode.getInstance(), capacity, null);
    }

    /** Whether the log says of a part of memory which GPU it is a part of. */
    boolean areKnown() {
        return !blocks.isEmpty();
    }

    /** Whether the pod was placed on a GPU of which the log does not say how large it is. */
    boolean isMissing() {
        return missing;
    }

    /** In units that divide cores as well as blocks of memory, so that nothing is rounded. */
    BigDecimal one() {
        return one;
    }

    /** GPUs of the node. */
    BigDecimal count() {
        return Amounts.of(capacity, CORE).divide(HUNDRED, 0, RoundingMode.DOWN);
    }

    /** So many blocks of memory in these units; nothing where nobody says how large a GPU is. */
    BigDecimal memory(JsonNode container, BigDecimal amount) {
        BigDecimal own = blocks.get(container.path("name").asString(""));
        if (own != null) {
            return amount.multiply(one.divide(own));
        }
        return reportsMemory()
                ? amount.multiply(count()).multiply(one.divide(Amounts.of(capacity, MEMORY)))
                : BigDecimal.ZERO;
    }

    private boolean reportsMemory() {
        BigDecimal gpus = count();
        return gpus.signum() > 0 && Amounts.of(capacity, MEMORY).compareTo(gpus) >= 0;
    }

    /** GPUs by container, if the pod has a placement of its own. */
    private static Map<String, List<String>> placed(JsonNode pod) {
        String text = pod.at("/metadata/annotations").path("gpusharing.io/placement").asString("");
        var placed = new HashMap<String, List<String>>();
        List<String> words = List.of(text.split(";", -1));
        if (words.getFirst().equals(pod.at("/metadata/uid").asString(""))) {
            for (String word : words.subList(1, words.size())) {
                String[] parts = word.split("=", 2);
                if (parts.length == 2) {
                    placed.put(parts[0], List.of(parts[1].split(",", -1)));
                }
            }
        }
        return placed;
    }
}
