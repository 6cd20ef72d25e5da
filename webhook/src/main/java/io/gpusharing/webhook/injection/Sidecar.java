package io.gpusharing.webhook.injection;

import io.gpusharing.Names;
import io.gpusharing.webhook.cluster.Demands;
import io.gpusharing.webhook.injection.SidecarResources.DoesNotFit;
import io.gpusharing.webhook.injection.SidecarResources.Fit;
import io.gpusharing.webhook.injection.SidecarResources.PodLevel;
import io.gpusharing.webhook.review.PodView;
import io.gpusharing.webhook.review.PodView.Container;
import io.gpusharing.webhook.review.PodView.Volume;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.SerializableString;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * The container that meters a pod from inside, and its volumes.
 *
 * <p>A native sidecar, first of the init containers: it sees the whole life of the pod and never
 * holds up its end. It satisfies PodSecurity {@code restricted} by itself and has no probe that
 * could gate the pod.
 */
public final class Sidecar {

    private static final int MAX_RENDERED = 64;

    private static final JsonMapper MAPPER = JsonMapper.shared();

    /**
     * What is added to one pod. It is the same for most pods, and kept as the bytes that are sent.
     *
     * @param name name of the container
     * @param container the container, JSON
     * @param volumes its volumes, JSON each
     */
    public record Parts(
            String name, SerializableString container, List<SerializableString> volumes) {}

    /** What is to be done with one pod. Exactly one of the three. */
    public sealed interface Plan {

        /** It has the container already, under this name. */
        record Present(String name) implements Plan {}

        /** These are added. */
        record Add(Parts parts) implements Plan {}

        /** It cannot have one here. */
        record LeaveOut(String reason) implements Plan {}
    }

    private record Key(SidecarForm form, String ca) {}

    private final SidecarProperties properties;
    private final SidecarResources resources;
    private final SidecarManifest manifest;
    private final Map<Key, Parts> rendered = new ConcurrentHashMap<>();

    /**
     * @param properties image, resources and where it reports
     */
    public Sidecar(SidecarProperties properties) {
        this.properties = properties;
        this.resources = new SidecarResources(properties);
        this.manifest = new SidecarManifest(properties);
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

    /**
     * What this pod has to get.
     *
     * @param stamped name of the container that we have just added to it, if this is so; null
     *     otherwise
     * @param ca what the container trusts, PEM
     * @param demanded what the namespace demands
     * @param priorityClass that the pod will have; null if none
     */
    public Plan planFor(
            PodView pod,
            @Nullable String stamped,
            String ca,
            Demands demanded,
            @Nullable String priorityClass) {
        Optional<String> present = presentIn(pod, stamped, ca);
        if (present.isPresent()) {
            return new Plan.Present(present.get());
        }
        return switch (resources.in(pod, demanded, priorityClass)) {
            case DoesNotFit(String reason) -> new Plan.LeaveOut(reason);
            case Fit fit -> new Plan.Add(parts(SidecarForm.of(pod, freeSuffix(pod), fit), ca));
        };
    }

    private Parts parts(SidecarForm form, String ca) {
        // The few usual forms are the same text for every pod; those cut to fit are many.
        return form.suffix().isEmpty() && rendered.size() < MAX_RENDERED
                ? rendered.computeIfAbsent(new Key(form, ca), key -> manifest.render(form, ca))
                : manifest.render(form, ca);
    }

    /**
     * Name of the container in this pod that is exactly what we would add, volumes included, but
     * for what it asks for: that was fitted to what the namespace left then. The name alone proves
     * nothing: users may use it too.
     */
    private Optional<String> presentIn(PodView pod, @Nullable String stamped, String ca) {
        for (Container container : pod.initContainers()) {
            if (container.name().startsWith(Names.SIDECAR_CONTAINER)
                    && isOurs(container, pod, container.name().equals(stamped), ca)) {
                return Optional.of(container.name());
            }
        }
        return Optional.empty();
    }

    /**
     * @param stamped whether it is said that we have just added it: then others may have changed
     *     since what a pod's own webhooks change, and it is left as they want it. A tenant who says
     *     so has a meter that does not report, which is nothing that it could not have otherwise.
     */
    private boolean isOurs(Container container, PodView pod, boolean stamped, String ca) {
        if (container.asksForAGpu()) {
            return false;
        }
        String suffix = container.name().substring(Names.SIDECAR_CONTAINER.length());
        Parts ours = manifest.render(SidecarForm.of(pod, suffix, new PodLevel()), ca);
        JsonNode found = MAPPER.readTree(container.source().bytes());
        JsonNode wanted = MAPPER.readTree(ours.container().getValue());
        return (stamped ? remains(found, wanted) : contains(found, wanted))
                && ours.volumes().stream().allMatch(volume -> hasVolume(pod, volume));
    }

    /**
     * What is left of ours where a registry's webhook has rewritten the image, a mesh has added
     * variables, the cluster pulls every image again, a policy has set a security context.
     */
    private static boolean remains(JsonNode found, JsonNode ours) {
        return Stream.of("env", "volumeMounts")
                        .allMatch(list ->
                                ours.path(list)
                                        .valueStream()
                                        .allMatch(entry -> has(found.path(list), entry)))
                && found.path("restartPolicy").equals(ours.path("restartPolicy"))
                && imageName(found).equals(imageName(ours))
                && (found.path("imagePullPolicy").equals(ours.path("imagePullPolicy"))
                        || found.path("imagePullPolicy").asString("").equals("Always"));
    }

    private static boolean has(JsonNode list, JsonNode entry) {
        return list.valueStream().anyMatch(it -> contains(it, entry));
    }

    /** {@code sidecar} of {@code registry.example.com:5000/gpusharing/sidecar:1@sha256:…}. */
    private static String imageName(JsonNode container) {
        String image = container.path("image").asString("");
        return image.substring(image.lastIndexOf('/') + 1).replaceFirst("[:@].*", "");
    }

    private static boolean hasVolume(PodView pod, SerializableString ours) {
        return pod.volumes().stream()
                .filter(found -> found.name().startsWith("gpusharing-"))
                .anyMatch(found -> contains(MAPPER.readTree(found.source().bytes()), ours));
    }

    private static boolean contains(JsonNode found, SerializableString ours) {
        return contains(found, MAPPER.readTree(ours.getValue()));
    }

    /**
     * The API server fills in defaults, and other webhooks may add mounts; nothing else differs.
     */
    private static boolean contains(JsonNode found, JsonNode ours) {
        if (ours.isObject()) {
            return ours.propertyStream()
                    .allMatch(field -> {
                        JsonNode theirs = found.path(field.getKey());
                        return switch (field.getKey()) {
                            case "volumeMounts" ->
                                    field.getValue()
                                            .valueStream()
                                            .allMatch(mount -> has(theirs, mount));
                            default -> contains(theirs, field.getValue());
                        };
                    });
        }
        if (ours.isArray()) {
            return found.size() == ours.size()
                    && IntStream.range(0, ours.size())
                            .allMatch(i -> contains(found.path(i), ours.path(i)));
        }
        return found.equals(ours);
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
            if (volume.name().equals(SidecarManifest.TOKEN_VOLUME + suffix)
                    || volume.name().equals(SidecarManifest.STATE_VOLUME + suffix)) {
                return false;
            }
        }
        return true;
    }
}
