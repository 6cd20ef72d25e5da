package io.gpusharing.webhook.injection;

import io.gpusharing.Names;
import io.gpusharing.webhook.cluster.Demands;
import io.gpusharing.webhook.injection.SidecarResources.Amounts;
import io.gpusharing.webhook.injection.SidecarResources.DoesNotFit;
import io.gpusharing.webhook.review.PodView;
import io.gpusharing.webhook.review.PodView.Container;
import io.gpusharing.webhook.review.PodView.Volume;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.SerializableString;

/**
 * The container that meters a pod from inside, and its volumes.
 *
 * <p>A native sidecar, first of the init containers: it sees the whole life of the pod and never
 * holds up its end. It satisfies PodSecurity {@code restricted} by itself and has no probe that
 * could gate the pod.
 */
public final class Sidecar {

    private static final int MAX_RENDERED = 64;

    /**
     * What is added to one pod. It is the same for most pods, and kept as the bytes that are sent.
     *
     * @param name name of the container
     * @param container the container, JSON
     * @param volumes its volumes, JSON each
     * @param volumeNames their names
     */
    public record Parts(
            String name,
            SerializableString container,
            List<SerializableString> volumes,
            List<String> volumeNames) {}

    /** What is to be done with one pod that has no such container. Exactly one of the two. */
    public sealed interface Plan {

        /** These are added. */
        record Add(Parts parts) implements Plan {}

        /** It cannot have one here. */
        record LeaveOut(String reason) implements Plan {}
    }

    private record Key(SidecarForm form, String ca) {}

    private final SidecarProperties properties;
    private final SidecarResources resources;
    private final SidecarManifest manifest;
    private final SidecarRecognition recognition;
    private final Map<Key, Parts> rendered = new ConcurrentHashMap<>();

    /**
     * @param properties image, resources and where it reports
     */
    public Sidecar(SidecarProperties properties) {
        this.properties = properties;
        this.resources = new SidecarResources(properties);
        this.manifest = new SidecarManifest(properties);
        this.recognition = new SidecarRecognition(manifest);
    }

    /** Whether pods get it at all. */
    public boolean isWanted() {
        return properties.mode() == SidecarProperties.Mode.PerPod;
    }

    /** Its image. */
    public String image() {
        return properties.image();
    }

    /** Names of registry credentials that a pod needs for it. */
    public List<String> pullSecrets() {
        return properties.pullSecrets();
    }

    /** Those that a pod has already; see {@link SidecarRecognition#in}. */
    Meters in(PodView pod, @Nullable String stamped, String ca, boolean wanted) {
        return recognition.in(pod, stamped, ca, wanted);
    }

    /**
     * What a pod has to get that keeps none.
     *
     * @param meters those that it has and that go; the first one's name and volumes are used again
     * @param ca what the container trusts, PEM
     * @param demanded what the namespace demands
     * @param priorityClass that the pod will have; null if none
     */
    public Plan planFor(
            PodView pod,
            Meters meters,
            String ca,
            Demands demanded,
            @Nullable String priorityClass) {
        PodView rest = meters.outdated().isEmpty() ? pod : pod.without(meters.outdated());
        String suffix =
                meters.outdated().isEmpty()
                        ? freeSuffix(pod)
                        : meters.outdated().getFirst().substring(Names.SIDECAR_CONTAINER.length());
        return switch (resources.in(rest, demanded, priorityClass)) {
            case DoesNotFit(String reason) -> new Plan.LeaveOut(reason);
            case Amounts fit -> new Plan.Add(parts(SidecarForm.of(pod, suffix, fit), ca));
        };
    }

    private Parts parts(SidecarForm form, String ca) {
        // The few usual forms are the same text for every pod; those cut to fit are many.
        return form.suffix().isEmpty() && rendered.size() < MAX_RENDERED
                ? rendered.computeIfAbsent(new Key(form, ca), key -> manifest.render(form, ca))
                : manifest.render(form, ca);
    }

    /** A suffix that makes none of our names collide with one of the pod's. */
    private static String freeSuffix(PodView pod) {
        String suffix = "";
        for (int n = 2; !isFree(pod, suffix); n++) {
            suffix = "-" + n;
        }
        return suffix;
    }

    private static boolean isFree(PodView pod, String suffix) {
        String name = Names.SIDECAR_CONTAINER + suffix;
        for (Container container : pod.spec().containers()) {
            if (container.name().equals(name)) {
                return false;
            }
        }
        for (Container container : pod.initContainers()) {
            if (container.name().equals(name)) {
                return false;
            }
        }
        for (Volume volume : pod.volumes()) {
            if (SidecarManifest.volumeNames(suffix).contains(volume.name())) {
                return false;
            }
        }
        return true;
    }
}
