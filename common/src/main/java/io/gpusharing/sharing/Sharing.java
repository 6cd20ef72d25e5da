package io.gpusharing.sharing;

import io.gpusharing.Names;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * In which way those who hold parts of a GPU share it. All of them do it in the same way; a GPU
 * that one has whole is not shared.
 *
 * @param domain of {@link Way#Cooperative} who trust each other: {@code budget/NAME}, {@code
 *     namespace/NAME} or {@code cluster}; else empty
 */
public record Sharing(Way way, String domain) {

    /** How programs get on with each other. */
    public enum Way {
        /** They take turns, and nothing limits them. */
        TimeSlices,
        /**
         * They run side by side as clients of one MPS daemon, within limits that a program can
         * lift. A fault of one may end all, so that only those are together who trust each other.
         */
        Cooperative,
        /** Some do it in one way and some in another, after a change of settings: nobody joins. */
        Mixed
    }

    public static final Sharing TIME_SLICES = new Sharing(Way.TimeSlices, "");

    private static final Sharing MIXED = new Sharing(Way.Mixed, "");

    /** Which pods may share a GPU by MPS. */
    public enum Across {
        /** Those of one budget; where a namespace has none, those of the namespace. */
        Budget,
        /** Those of one namespace. */
        Namespace,
        /** All. */
        Cluster
    }

    private static final List<String> SHARED_MEMORY = List.of("dev", "shm");

    /**
     * The value of {@link Names#MPS_ANNOTATION} of a pod whose author expects MPS: as without it,
     * but admission warns where it cannot be.
     */
    public static final String ENABLED = "enabled";

    /** The value of a pod that wants no MPS. */
    public static final String DISABLED = "disabled";

    /** Its values. */
    public static final List<String> WISHES = List.of(ENABLED, DISABLED);

    /**
     * How a pod shares GPUs on a node. Where admission was passed by, a value of the annotation
     * that is not legal says nothing.
     *
     * @param across which pods may share a GPU by MPS; null if the node serves none
     * @param annotations the pod's; null if it has none
     * @param isEligible whether its containers can be clients of MPS
     */
    public static Sharing of(
            @Nullable Across across,
            String namespace,
            @Nullable Map<String, String> annotations,
            boolean isEligible) {
        Map<String, String> known = annotations == null ? Map.of() : annotations;
        return across == null || !isEligible || DISABLED.equals(known.get(Names.MPS_ANNOTATION))
                ? TIME_SLICES
                : cooperative(domain(across, namespace, known));
    }

    private static String domain(Across across, String namespace, Map<String, String> annotations) {
        String budget = annotations.get(Names.BUDGET_ANNOTATION);
        return switch (across) {
            case Cluster -> "cluster";
            case Budget ->
                    budget == null || budget.isEmpty()
                            ? "namespace/" + namespace
                            : "budget/" + budget;
            case Namespace -> "namespace/" + namespace;
        };
    }

    /**
     * Whether the containers of a pod that ask for a part of a GPU can all be clients of MPS. Such
     * a client sees one GPU, so none of them may have others beside.
     *
     * @param ownSharedMemory whether a container has a volume of its own at {@code /dev/shm}
     */
    public static boolean isEligible(
            List<ContainerAsk> asks, boolean hostIpc, Predicate<String> ownSharedMemory) {
        return !hostIpc
                && asks.stream().map(ContainerAsk::container).distinct().count() == asks.size()
                && asks.stream()
                        .filter(ask -> !ask.ask().whole())
                        .map(ContainerAsk::container)
                        .noneMatch(ownSharedMemory);
    }

    /**
     * Whether what is mounted there takes the place of the shared memory that a pod's containers
     * have in common. Runtimes resolve such a path without following links, also a relative one.
     *
     * @param mountPath null where there is none
     */
    public static boolean isSharedMemory(@Nullable String mountPath) {
        // Every mount of every pod is looked at.
        if (mountPath == null || !mountPath.contains("shm")) {
            return false;
        }
        var names = new ArrayDeque<String>();
        for (String name : mountPath.split("/", -1)) {
            if (name.equals("..")) {
                names.pollLast();
            } else if (!name.isEmpty() && !name.equals(".")) {
                names.addLast(name);
            }
        }
        return List.copyOf(names).equals(SHARED_MEMORY);
    }

    /**
     * As it is written of a grant.
     *
     * @param domain null if they take turns
     */
    public static Sharing inDomain(@Nullable String domain) {
        return domain == null ? TIME_SLICES : cooperative(domain);
    }

    /** By MPS, among those of a domain. */
    public static Sharing cooperative(String domain) {
        // Thousands of pods have few domains.
        return new Sharing(Way.Cooperative, domain.intern());
    }

    /** The domain of those who trust each other, if it matters. */
    public Optional<String> trusted() {
        return way == Way.Cooperative ? Optional.of(domain) : Optional.empty();
    }

    /** How these and those share a GPU. */
    public Sharing with(Sharing other) {
        return equals(other) ? this : MIXED;
    }
}
