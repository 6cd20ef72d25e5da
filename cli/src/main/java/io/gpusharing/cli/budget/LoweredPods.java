package io.gpusharing.cli.budget;

import static java.util.Objects.requireNonNullElse;
import static java.util.stream.Collectors.joining;

import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.Pod;
import io.gpusharing.Names;
import io.gpusharing.budget.Standing;
import io.gpusharing.cli.cluster.Cluster;
import io.gpusharing.cli.cluster.Kind;
import io.gpusharing.cli.cluster.NotAllowed;
import io.gpusharing.cli.console.Failure;
import io.gpusharing.kubernetes.PodPhase;
import io.gpusharing.wire.PlacementAnnotation;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Pods that were admitted while their budget was used up, and have a class by which they give way
 * to pods in budget. It never changes; our scheduler goes by how the budget stands, others do not.
 */
public final class LoweredPods {

    /** So many pods are named. */
    private static final int MOST = 10;

    private LoweredPods() {}

    /** Whether its budget was used up when it was admitted, and it got a low class for that. */
    public static boolean isLowered(Pod pod) {
        // Below zero is whoever gives way; a budget that only observes lowers nobody.
        return Standing.wasOver(pod.getMetadata().getAnnotations())
                && requireNonNullElse(pod.getSpec().getPriority(), 0) < 0;
    }

    /** Whether it is bound where our scheduler places, which has written that on it. */
    public static boolean isPlacedByOurs(Pod pod) {
        return pod.getSpec().getNodeName() != null
                && annotations(pod).containsKey(PlacementAnnotation.KEY);
    }

    /** What has to be done for the pod to get another class. */
    public static String anew(Pod pod) {
        boolean isOwned =
                requireNonNullElse(
                                pod.getMetadata().getOwnerReferences(), List.<OwnerReference>of())
                        .stream()
                        .anyMatch(owner -> Boolean.TRUE.equals(owner.getController()));
        return isOwned ? "delete it, and its controller makes it anew" : "create it anew";
    }

    /**
     * Says which running pods of a budget another scheduler goes on preempting although the budget
     * has time again, and of which namespaces that is not known: a sentence for each of the two, if
     * there are any.
     */
    static List<String> left(Cluster cluster, String budget, List<String> namespaces) {
        var names = new ArrayList<String>();
        var notListed = new ArrayList<String>();
        String problem = "";
        for (String namespace : namespaces) {
            try {
                pods(cluster, namespace).stream()
                        .filter(pod -> isLeft(pod, budget))
                        .map(pod -> namespace + "/" + pod.getMetadata().getName())
                        .forEach(names::add);
            } catch (NotAllowed e) {
                notListed.add(namespace);
                problem = e.getMessage();
            } catch (Failure e) {
                // An API server that is away would be waited for again for each of the others.
                notListed.addAll(
                        namespaces.subList(namespaces.indexOf(namespace), namespaces.size()));
                problem = e.getMessage();
                break;
            }
        }
        var sentences = new ArrayList<String>();
        if (!names.isEmpty()) {
            sentences.add(
                    "%s: admitted over budget, and where another scheduler than GPUSharing's places. It goes by their class, which never changes, and preempts them for any pod in budget. Only a pod that is made anew gets the class of pods in budget: delete them one at a time, and create those anew that no controller makes"
                            .formatted(named(names)));
        }
        if (!notListed.isEmpty()) {
            sentences.add(
                    "Which running pods of %s keep the class of pods over budget is not known here. %s"
                            .formatted(named(notListed), problem));
        }
        return sentences;
    }

    private static List<Pod> pods(Cluster cluster, String namespace) {
        return cluster.ask(
                "list",
                Kind.PODS_OF_A_NAMESPACE,
                client ->
                        client.pods()
                                .inNamespace(namespace)
                                .withLabel(Names.METERED_LABEL)
                                .list()
                                .getItems());
    }

    private static boolean isLeft(Pod pod, String budget) {
        return isLowered(pod)
                && budget.equals(annotations(pod).get(Names.BUDGET_ANNOTATION))
                && pod.getSpec().getNodeName() != null
                && !PodPhase.hasEnded(pod)
                && pod.getMetadata().getDeletionTimestamp() == null
                && !isPlacedByOurs(pod);
    }

    private static String named(List<String> names) {
        String first = names.stream().limit(MOST).collect(joining(", "));
        return names.size() > MOST ? first + " and %d more".formatted(names.size() - MOST) : first;
    }

    private static Map<String, String> annotations(Pod pod) {
        return requireNonNullElse(pod.getMetadata().getAnnotations(), Map.of());
    }
}
