package io.gpusharing.webhook.cluster;

import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What a ResourceQuota leaves, as far as a container more can be too much for it.
 *
 * @param name of the ResourceQuota
 * @param left what may still be added: {@code requests.cpu}, {@code requests.memory}, {@code
 *     limits.cpu}, {@code limits.memory}, {@code pods}; what it does not count is absent
 * @param scopes which pods it counts: those that all of them name
 */
public record Quota(String name, Map<String, BigDecimal> left, List<Scope> scopes) {

    public Quota {
        left = Map.copyOf(left);
        scopes = List.copyOf(scopes);
    }

    /**
     * One condition of a quota on the pods that it counts.
     *
     * @param name as Kubernetes calls it, for instance {@code NotBestEffort}
     * @param operator {@code In}, {@code NotIn}, {@code Exists} or {@code DoesNotExist}
     * @param values names of priority classes
     */
    public record Scope(String name, String operator, Set<String> values) {}

    /**
     * What quotas count in a pod.
     *
     * @param bestEffort whether none of its containers asks for cpu or memory
     * @param deadline whether it has {@code activeDeadlineSeconds}
     * @param priorityClass null if it has none
     */
    public record Traits(boolean bestEffort, boolean deadline, @Nullable String priorityClass) {}

    /** Whether it counts such a pod. */
    public boolean counts(Traits pod) {
        return scopes.stream().allMatch(scope -> matches(scope, pod));
    }

    private static boolean matches(Scope scope, Traits pod) {
        return switch (scope.name()) {
            case "BestEffort" -> pod.bestEffort();
            case "NotBestEffort" -> !pod.bestEffort();
            case "Terminating" -> pod.deadline();
            case "NotTerminating" -> !pod.deadline();
            case "PriorityClass" -> matchesClass(scope, pod.priorityClass());
            // Whether it counts the pod is not known here: it may.
            default -> true;
        };
    }

    private static boolean matchesClass(Scope scope, @Nullable String priorityClass) {
        boolean present = priorityClass != null && !priorityClass.isEmpty();
        boolean named = present && scope.values().contains(priorityClass);
        return switch (scope.operator()) {
            case "In" -> named;
            case "NotIn" -> !named;
            case "DoesNotExist" -> !present;
            default -> present;
        };
    }
}
