package io.gpusharing.timekeeper.allocation;

import com.github.benmanes.caffeine.cache.Interner;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.gpusharing.Names;
import io.gpusharing.request.PodRequest;
import io.gpusharing.timekeeper.allocation.PodFacts.Owner;
import io.gpusharing.timekeeper.allocation.PodFacts.Placement;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Reads the few things of a pod that concern us; the rest is not kept in memory. */
public final class PodReader {

    private final Predicate<String> gpuResource;
    private final Function<Pod, Claimed> claims;

    /** Thousands of pods ask for the same in the same namespaces. */
    private final Interner<PodRequest> requests = Interner.newWeakInterner();

    private final Interner<String> names = Interner.newWeakInterner();

    /**
     * @param gpuResource which extended resources are GPUs
     */
    public PodReader(Predicate<String> gpuResource) {
        this(gpuResource, pod -> Claimed.NONE);
    }

    /**
     * @param gpuResource which extended resources are GPUs
     * @param claims what a pod holds by resource claims
     */
    public PodReader(Predicate<String> gpuResource, Function<Pod, Claimed> claims) {
        this.gpuResource = gpuResource;
        this.claims = claims;
    }

    /** The facts of a pod as the API server stores it. */
    public PodFacts read(Pod pod) {
        ObjectMeta meta = pod.getMetadata();
        PodRequest request = requests.intern(ResourceReader.request(pod.getSpec(), gpuResource));
        return new PodFacts(
                UUID.fromString(meta.getUid()),
                names.intern(meta.getNamespace()),
                meta.getName(),
                owner(meta),
                request,
                claims.apply(pod),
                annotations(meta),
                placement(pod),
                LifecycleReader.read(pod, request));
    }

    private static @Nullable Owner owner(ObjectMeta meta) {
        return meta.getOwnerReferences().stream()
                .filter(reference -> Boolean.TRUE.equals(reference.getController()))
                .findFirst()
                .map(it ->
                        new Owner(
                                storable(it.getKind()),
                                storable(it.getName()),
                                storable(it.getUid())))
                .orElse(null);
    }

    /** Who makes a pod writes its owner, too, and no database text holds the character 0. */
    private static String storable(String text) {
        return text.replace('\0', '\uFFFD');
    }

    private Map<String, String> annotations(ObjectMeta meta) {
        var kept = new HashMap<String, String>();
        Objects.requireNonNullElse(meta.getAnnotations(), Map.<String, String>of())
                .forEach((key, value) -> {
                    if (key.startsWith(Names.PREFIX)
                            || key.startsWith("tencent.com/")
                            || key.startsWith("hami.io/")) {
                        kept.put(names.intern(key), value);
                    }
                });
        return kept;
    }

    private Placement placement(Pod pod) {
        PodSpec spec = pod.getSpec();
        return new Placement(
                shared(spec.getNodeName()),
                pod.getStatus() == null ? null : pod.getStatus().getNominatedNodeName(),
                shared(spec.getPriorityClassName()),
                spec.getPriority() == null ? 0 : spec.getPriority(),
                !spec.getSchedulingGates().isEmpty(),
                LifecycleReader.unschedulableSince(pod.getStatus()));
    }

    private @Nullable String shared(@Nullable String name) {
        return name == null ? null : names.intern(name);
    }
}
