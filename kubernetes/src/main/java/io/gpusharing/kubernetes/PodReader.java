package io.gpusharing.kubernetes;

import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodStatus;
import io.gpusharing.Names;
import io.gpusharing.kubernetes.PodFacts.Owner;
import io.gpusharing.kubernetes.PodFacts.Placement;
import io.gpusharing.request.PodRequest;
import io.gpusharing.request.grammar.HamiGrammar;
import io.gpusharing.wire.PlacementAnnotation;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Reads the few things of a pod that concern us; the rest is not kept in memory. */
public final class PodReader {

    /** Where it is noted who wrote when a pod was scheduled; no other such note is read. */
    public static final List<String> POD_SCHEDULED_FIELD =
            List.of(
                    "f:status",
                    "f:conditions",
                    "k:{\"type\":\"PodScheduled\"}",
                    "f:lastTransitionTime");

    /** Annotations that somebody here reads. */
    private static final Set<String> READ =
            Set.of(Names.DO_NOT_RECLAIM_ANNOTATION, Names.EXHAUSTED_AT_ANNOTATION);

    /**
     * What is written by schedulers, of ours with the binding and by ours alone, and never cut:
     * half of it says nothing.
     */
    private static final List<String> PLACED =
            List.of(PlacementAnnotation.KEY, HamiGrammar.ALLOCATED);

    /** No name in Kubernetes is longer. */
    private static final int MAX_NAME = 253;

    private static final Pattern NOT_STORABLE = Pattern.compile("[\\x00\\p{Cs}]");

    private final Predicate<String> gpuResource;
    private final Function<Pod, Claimed> claims;

    /** Thousands of pods ask for the same in the same namespaces. */
    private final UnaryOperator<PodRequest> requests;

    private final UnaryOperator<String> names;

    /**
     * @param gpuResource which extended resources are GPUs
     */
    public PodReader(Predicate<String> gpuResource) {
        this(gpuResource, pod -> Claimed.NONE, UnaryOperator.identity(), UnaryOperator.identity());
    }

    /**
     * @param gpuResource which extended resources are GPUs
     * @param claims what a pod holds by resource claims
     * @param requests answers an equal request that is in memory already, where one is
     * @param names the same of names of namespaces, nodes and kinds
     */
    public PodReader(
            Predicate<String> gpuResource,
            Function<Pod, Claimed> claims,
            UnaryOperator<PodRequest> requests,
            UnaryOperator<String> names) {
        this.gpuResource = gpuResource;
        this.claims = claims;
        this.requests = requests;
        this.names = names;
    }

    /** The facts of a pod as the API server stores it. */
    public PodFacts read(Pod pod) {
        ObjectMeta meta = pod.getMetadata();
        PodRequest request = requests.apply(ResourceReader.request(pod.getSpec(), gpuResource));
        return new PodFacts(
                UUID.fromString(meta.getUid()),
                names.apply(meta.getNamespace()),
                meta.getName(),
                owner(meta),
                request,
                claims.apply(pod),
                annotations(meta),
                placement(pod),
                LifecycleReader.read(pod, request));
    }

    private @Nullable Owner owner(ObjectMeta meta) {
        return meta.getOwnerReferences().stream()
                .filter(reference -> Boolean.TRUE.equals(reference.getController()))
                .findFirst()
                .map(it ->
                        new Owner(
                                names.apply(inShort(it.getKind())),
                                inShort(it.getName()),
                                inShort(it.getUid())))
                .orElse(null);
    }

    /**
     * What people write: no database text holds the character 0, which the API server lets pass,
     * nor half of a pair of surrogates.
     */
    public static String storable(String text) {
        return NOT_STORABLE.matcher(text).replaceAll("\uFFFD");
    }

    /**
     * What is kept of a pod for its life. A real name is no longer; a tenant's may be a megabyte.
     */
    private static String inShort(String text) {
        return storable(text.substring(0, Math.min(text.length(), MAX_NAME)));
    }

    private static Map<String, String> annotations(ObjectMeta meta) {
        var kept = new HashMap<String, String>();
        for (String key : READ) {
            String value = meta.getAnnotations() == null ? null : meta.getAnnotations().get(key);
            if (value != null) {
                kept.put(key, inShort(value));
            }
        }
        for (String key : PLACED) {
            String placed = meta.getAnnotations() == null ? null : meta.getAnnotations().get(key);
            if (placed != null && placed.length() <= PlacementAnnotation.MOST_BYTES) {
                kept.put(key, placed);
            }
        }
        return kept;
    }

    private Placement placement(Pod pod) {
        PodSpec spec = pod.getSpec();
        String nominated = pod.getStatus() == null ? null : pod.getStatus().getNominatedNodeName();
        return new Placement(
                spec.getNodeName() == null ? null : names.apply(spec.getNodeName()),
                nominated == null ? null : inShort(nominated),
                spec.getPriority() == null ? 0 : spec.getPriority(),
                !spec.getSchedulingGates().isEmpty(),
                unschedulableSince(pod.getStatus()));
    }

    /** Since when the scheduler has found no place; null if it does not say so. */
    private static @Nullable Instant unschedulableSince(@Nullable PodStatus status) {
        PodCondition scheduled = LifecycleReader.condition(status, "PodScheduled");
        return scheduled != null && "Unschedulable".equals(scheduled.getReason())
                ? LifecycleReader.instant(scheduled.getLastTransitionTime())
                : null;
    }
}
