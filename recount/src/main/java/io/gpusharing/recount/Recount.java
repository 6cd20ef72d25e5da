package io.gpusharing.recount;

import io.gpusharing.recount.Bill.Held;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Computes every pod's bill by the rules of docs/accounting: from PodScheduled to the latest {@code
 * finishedAt} of its own containers, or, where it was removed without a terminal phase, to the
 * later of that and its deletion. Requests by {@code tencent.com/vcuda-*} and whole {@code
 * nvidia.com/gpu} are understood; any other way of asking is named, not guessed, and so is a pod
 * that cannot be read.
 */
public final class Recount {

    private static final String CORE = "tencent.com/vcuda-core";
    private static final String MEMORY = "tencent.com/vcuda-memory";
    private static final String WHOLE = "nvidia.com/gpu";
    private static final List<String> HAMI_PARTS =
            List.of("nvidia.com/gpumem", "nvidia.com/gpumem-percentage", "nvidia.com/gpucores");
    private static final BigDecimal HUNDRED = BigDecimal.valueOf(100);

    private Recount() {}

    /**
     * Bills of all pods that were placed and are ours, by uid: those that ask for fractions, and
     * those with our label.
     *
     * @param wholeGpus whether pods that ask for whole {@code nvidia.com/gpu} are ours without our
     *     label, too: where they are charged here, and the webhook did not see one
     */
    public static Map<String, Bill> of(AuditLog log, boolean wholeGpus) {
        return of(log, wholeGpus, Set.of());
    }

    /**
     * Bills of all pods that were placed and are ours, by uid.
     *
     * @param charged those that are ours, however they ask, because the ledger says so
     */
    static Map<String, Bill> of(AuditLog log, boolean wholeGpus, Set<String> charged) {
        var bills = new LinkedHashMap<String, Bill>();
        log.pods()
                .forEach((uid, pod) -> {
                    boolean known = charged.contains(uid) || isLabelled(pod);
                    Bill bill = readable(pod, log, known, wholeGpus);
                    if (bill != null) {
                        bills.put(uid, bill);
                    }
                });
        return bills;
    }

    /** What cannot be read of one pod, its node's amounts included, concerns no other. */
    private static @Nullable Bill readable(
            JsonNode pod, AuditLog log, boolean known, boolean wholeGpus) {
        String problem = log.unreadable(uid(pod));
        try {
            JsonNode spec = pod.path("spec");
            if (!known && !asksForFractions(spec) && !(wholeGpus && asks(spec, WHOLE))) {
                return null;
            }
            if (problem == null) {
                Instant from = log.begin(uid(pod));
                return from == null ? null : bill(pod, from, log);
            }
        } catch (RuntimeException e) {
            problem = e.getMessage();
        }
        return bill(pod, Lifetime.UNKNOWN, Held.NOTHING, "could not be read: " + problem);
    }

    private static Bill bill(JsonNode pod, Instant from, AuditLog log) {
        JsonNode spec = pod.path("spec");
        var life = Lifetime.of(pod, from, log.removals());
        JsonNode node = log.node(spec.path("nodeName").asString(""));
        String problem = notRecounted(spec, node);
        if (node == null || problem != null) {
            return bill(pod, life, Held.NOTHING, problem);
        }
        JsonNode capacity = node.at("/status/capacity");
        var gpus = new Gpus(pod, capacity, log.gpus(spec.path("nodeName").asString("")));
        Held held = held(spec, gpus);
        return held.isAbsurd()
                ? bill(pod, life, Held.NOTHING, "it asks for more GPUs than any cluster has")
                : bill(pod, life, held, life.unknown())
                        .placed(
                                gpus.isMissing(),
                                gpus.areKnown() ? held(spec, Gpus.alike(capacity)) : null);
    }

    private static Held held(JsonNode spec, Gpus gpus) {
        return new Held(held(spec, gpus, false), held(spec, gpus, true), gpus.one());
    }

    private static Bill bill(JsonNode pod, Lifetime life, Held held, @Nullable String unknown) {
        return new Bill(
                uid(pod),
                pod.at("/metadata/namespace").asString(""),
                pod.at("/metadata/name").asString(""),
                held,
                life.from(),
                life.to(),
                life.removals(),
                unknown,
                false,
                null);
    }

    private static String uid(JsonNode pod) {
        return pod.at("/metadata/uid").asString("");
    }

    private static boolean isLabelled(JsonNode pod) {
        return pod.at("/metadata/labels").path("gpusharing.io/metered").asString("").equals("true");
    }

    /** Why it is not known what the pod held; null if it is. */
    private static @Nullable String notRecounted(JsonNode spec, @Nullable JsonNode node) {
        if (node == null) {
            return "its node is not in the log";
        }
        boolean fractions = asksForFractions(spec);
        if (!fractions && (!asks(spec, WHOLE) || asksHami(spec))) {
            return mayHoldGpus(spec) ? "it asks for GPUs in a way that is not recounted" : null;
        }
        String replicas = node.at("/metadata/labels").path(WHOLE + ".replicas").asString("1");
        if (!fractions && !replicas.equals("1")) {
            return "its node shares GPUs by replicas, which are not recounted";
        }
        if (hasClaims(spec)) {
            return "it has resource claims, which are not recounted";
        }
        return fractions && Amounts.of(node.at("/status/capacity"), CORE).compareTo(HUNDRED) < 0
                ? "its node shows no GPUs in the log"
                : null;
    }

    /**
     * Containers run together; each ordinary init container alone, beside the sidecars before it.
     */
    private static BigDecimal held(JsonNode spec, Gpus gpus, boolean memory) {
        BigDecimal together = BigDecimal.ZERO;
        for (JsonNode container : spec.path("containers")) {
            together = together.add(part(container, gpus, memory));
        }
        BigDecimal sidecars = BigDecimal.ZERO;
        BigDecimal steps = BigDecimal.ZERO;
        for (JsonNode container : spec.path("initContainers")) {
            BigDecimal part = part(container, gpus, memory);
            if (container.path("restartPolicy").asString("").equals("Always")) {
                sidecars = sidecars.add(part);
            } else {
                steps = steps.max(sidecars.add(part));
            }
        }
        return together.add(sidecars).max(steps);
    }

    private static BigDecimal part(JsonNode container, Gpus gpus, boolean memory) {
        JsonNode limits = container.at("/resources/limits");
        BigDecimal whole = Amounts.of(limits, WHOLE).multiply(gpus.one());
        BigDecimal core = Amounts.of(limits, CORE);
        return !memory || core.compareTo(HUNDRED) >= 0
                ? whole.add(core.multiply(gpus.one()).divide(HUNDRED))
                : whole.add(gpus.memory(container, Amounts.of(limits, MEMORY)));
    }

    private static boolean asksForFractions(JsonNode spec) {
        return asks(spec, CORE) || asks(spec, MEMORY);
    }

    /** Beside HAMi's parts a number of GPUs says of how many each is one. */
    private static boolean asksHami(JsonNode spec) {
        return HAMI_PARTS.stream().anyMatch(part -> asks(spec, part));
    }

    private static boolean asks(JsonNode spec, String resource) {
        return containers(spec).stream()
                .anyMatch(it -> Amounts.of(it.at("/resources/limits"), resource).signum() > 0);
    }

    /** By a resource of some domain, or by devices of some driver. */
    private static boolean mayHoldGpus(JsonNode spec) {
        return hasClaims(spec)
                || containers(spec).stream()
                        .flatMap(it -> it.at("/resources/limits").propertyNames().stream())
                        .anyMatch(resource -> resource.contains("/"));
    }

    private static boolean hasClaims(JsonNode spec) {
        return !spec.path("resourceClaims").isEmpty();
    }

    private static List<JsonNode> containers(JsonNode spec) {
        var all = new ArrayList<JsonNode>();
        spec.path("containers").forEach(all::add);
        spec.path("initContainers").forEach(all::add);
        return all;
    }
}
