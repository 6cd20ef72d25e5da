package io.gpusharing.scheduler.picture;

import io.fabric8.kubernetes.api.model.Affinity;
import io.fabric8.kubernetes.api.model.NodeSelectorRequirement;
import io.fabric8.kubernetes.api.model.NodeSelectorTerm;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.Taint;
import io.fabric8.kubernetes.api.model.Toleration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Where a pod may run, as kube-scheduler's NodeAffinity, NodeUnschedulable and TaintToleration
 * filters decide it.
 *
 * @param selector labels that the node must carry
 * @param terms required node affinity: one of them must match; none at all match every node
 * @param tolerations taints that do not keep the pod away
 */
public record SchedulingConstraints(
        Map<String, String> selector, List<NodeSelectorTerm> terms, List<Toleration> tolerations) {

    public static final SchedulingConstraints NONE =
            new SchedulingConstraints(Map.of(), List.of(), List.of());

    /** Several times what anybody needs to say where a pod may run: as {@link #size()} counts. */
    public static final int MOST = 16 * 1024;

    /** Stands for constraints of more than that; no node has such a label. */
    public static final SchedulingConstraints TOO_MUCH =
            new SchedulingConstraints(
                    Map.of("gpusharing.io/says-too-much", "true"), List.of(), List.of());

    private static final long OF_ONE = 32;
    private static final String UNSCHEDULABLE = "node.kubernetes.io/unschedulable";
    private static final String PREFER = "PreferNoSchedule";

    public SchedulingConstraints {
        selector = Map.copyOf(selector);
        terms = List.copyOf(terms);
        tolerations = List.copyOf(tolerations);
    }

    /** What a pod says of it. */
    public static SchedulingConstraints of(PodSpec pod) {
        List<NodeSelectorTerm> terms =
                Optional.ofNullable(pod.getAffinity())
                        .map(Affinity::getNodeAffinity)
                        .map(it -> it.getRequiredDuringSchedulingIgnoredDuringExecution())
                        .map(it -> it.getNodeSelectorTerms())
                        .orElse(List.of());
        return new SchedulingConstraints(
                Objects.requireNonNullElse(pod.getNodeSelector(), Map.of()),
                terms,
                Objects.requireNonNullElse(pod.getTolerations(), List.of()));
    }

    /** What it takes to keep this, about: its characters, and a few more for each text. */
    public long size() {
        return size(selector.keySet())
                + size(selector.values())
                + terms.stream().mapToLong(SchedulingConstraints::size).sum()
                + tolerations.stream()
                        .mapToLong(it -> size(List.of(text(it.getKey()), text(it.getValue()))))
                        .sum();
    }

    private static long size(NodeSelectorTerm term) {
        return OF_ONE
                + Stream.of(term.getMatchExpressions(), term.getMatchFields())
                        .flatMap(it -> orEmpty(it).stream())
                        .mapToLong(it ->
                                OF_ONE + text(it.getKey()).length() + size(orEmpty(it.getValues())))
                        .sum();
    }

    /** The same of some texts. */
    public static long size(Collection<String> texts) {
        return texts.stream().mapToLong(it -> OF_ONE + it.length()).sum();
    }

    /** Whether the pod may run on the node. */
    public boolean admit(NodeView node) {
        boolean cordoned =
                node.unschedulable()
                        && !tolerates(new Taint("NoSchedule", UNSCHEDULABLE, null, ""));
        return !cordoned
                && node.labels().entrySet().containsAll(selector.entrySet())
                && (terms.isEmpty() || terms.stream().anyMatch(term -> matches(term, node)))
                && node.taints().stream()
                        .allMatch(taint -> PREFER.equals(taint.getEffect()) || tolerates(taint));
    }

    private boolean tolerates(Taint taint) {
        return tolerations.stream().anyMatch(toleration -> tolerates(toleration, taint));
    }

    private static boolean tolerates(Toleration toleration, Taint taint) {
        boolean effect =
                isEmpty(toleration.getEffect()) || toleration.getEffect().equals(taint.getEffect());
        boolean key = isEmpty(toleration.getKey()) || toleration.getKey().equals(taint.getKey());
        boolean exists = "Exists".equals(toleration.getOperator());
        // An empty key is legal with Exists only, and then means every key.
        return effect
                && key
                && (exists
                        || (!isEmpty(toleration.getKey())
                                && text(toleration.getValue()).equals(text(taint.getValue()))));
    }

    /** All of a term's requirements must hold; a term without any matches nothing. */
    private static boolean matches(NodeSelectorTerm term, NodeView node) {
        List<NodeSelectorRequirement> labels = orEmpty(term.getMatchExpressions());
        List<NodeSelectorRequirement> fields = orEmpty(term.getMatchFields());
        Map<String, String> name = Map.of("metadata.name", node.name());
        return !(labels.isEmpty() && fields.isEmpty())
                && labels.stream().allMatch(it -> holds(it, node.labels()))
                && fields.stream().allMatch(it -> holds(it, name));
    }

    private static boolean holds(NodeSelectorRequirement requirement, Map<String, String> labels) {
        List<String> values = orEmpty(requirement.getValues());
        // The API server stores no pod with such a requirement, but a new pod may have it.
        if (requirement.getKey() == null) {
            return false;
        }
        String found = labels.get(requirement.getKey());
        return switch (requirement.getOperator()) {
            case "In" -> found != null && values.contains(found);
            case "NotIn" -> found == null || !values.contains(found);
            case "Exists" -> found != null;
            case "DoesNotExist" -> found == null;
            case "Gt" -> compare(found, values) > 0;
            case "Lt" -> compare(found, values) < 0;
            case null, default -> false;
        };
    }

    /** Sign of found minus wanted; 0, which is neither more nor less, if one is no whole number. */
    private static int compare(@Nullable String found, List<String> values) {
        OptionalLong left = wholeNumber(found);
        OptionalLong right =
                values.size() == 1 ? wholeNumber(values.getFirst()) : OptionalLong.empty();
        return left.isPresent() && right.isPresent()
                ? Long.compare(left.getAsLong(), right.getAsLong())
                : 0;
    }

    private static OptionalLong wholeNumber(@Nullable String text) {
        try {
            return text == null ? OptionalLong.empty() : OptionalLong.of(Long.parseLong(text));
        } catch (NumberFormatException e) {
            return OptionalLong.empty();
        }
    }

    private static boolean isEmpty(@Nullable String text) {
        return text == null || text.isEmpty();
    }

    private static String text(@Nullable String value) {
        return value == null ? "" : value;
    }

    private static <T> List<T> orEmpty(@Nullable List<T> list) {
        return list == null ? List.of() : list;
    }
}
