package io.gpusharing.webhook.injection;

import io.gpusharing.Names;
import io.gpusharing.webhook.injection.Sidecar.Parts;
import io.gpusharing.webhook.injection.SidecarResources.Amounts;
import io.gpusharing.webhook.review.PodView;
import io.gpusharing.webhook.review.PodView.Container;
import io.gpusharing.webhook.review.PodView.Volume;
import java.util.ArrayList;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.SerializableString;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Finds the metering container in pods that have it already. The name alone proves nothing: users
 * may use it too.
 */
final class SidecarRecognition {

    private static final JsonMapper MAPPER = JsonMapper.shared();

    private final SidecarManifest manifest;

    SidecarRecognition(SidecarManifest manifest) {
        this.manifest = manifest;
    }

    /**
     * Those of one pod.
     *
     * @param stamped name of the container that we have just added to it, if this is so; null
     *     otherwise
     * @param ca what the container trusts, PEM
     * @param wanted whether the pod is to have one at all
     */
    Meters in(PodView pod, @Nullable String stamped, String ca, boolean wanted) {
        String kept = null;
        var outdated = new ArrayList<String>();
        for (Container container : pod.initContainers()) {
            String name = container.name();
            if (name.startsWith(Names.SIDECAR_CONTAINER)) {
                JsonNode found = MAPPER.readTree(container.source().bytes());
                if (wanted && kept == null && isPresent(found, pod, name.equals(stamped), ca)) {
                    kept = name;
                } else if (isOlder(found, pod)) {
                    outdated.add(name);
                }
            }
        }
        return kept == null && outdated.isEmpty() ? Meters.NONE : new Meters(kept, outdated);
    }

    /**
     * Whether it is exactly what we would add, volumes included, but for what it asks for: that was
     * fitted to what the namespace left then.
     *
     * @param stamped whether it is said that we have just added it: then others may have changed
     *     since what a pod's own webhooks change, and it is left as they want it. A tenant who says
     *     so has a meter that does not report, which is nothing that it could not have otherwise.
     */
    private boolean isPresent(JsonNode found, PodView pod, boolean stamped, String ca) {
        Parts ours = manifest.render(SidecarForm.of(pod, suffix(found), Amounts.NONE), ca);
        JsonNode wanted = MAPPER.readTree(ours.container().getValue());
        return (stamped ? remains(found, wanted) : contains(found, wanted))
                && ours.volumes().stream().allMatch(volume -> hasVolume(pod, volume));
    }

    /**
     * Whether we have added it in another version, or with other settings: a native sidecar that
     * knows where to report and has a token of the pod for nothing else. A user who writes such a
     * container gets ours in its place.
     */
    private static boolean isOlder(JsonNode found, PodView pod) {
        String volume = SidecarManifest.TOKEN_VOLUME + suffix(found);
        return found.path("restartPolicy").asString("").equals("Always")
                && isNamed(found.path("env"), SidecarManifest.URL_VARIABLE)
                && isNamed(found.path("volumeMounts"), volume)
                && pod.volumes().stream()
                        .filter(it -> it.name().equals(volume))
                        .anyMatch(SidecarRecognition::isReportingToken);
    }

    private static boolean isReportingToken(Volume volume) {
        return MAPPER.readTree(volume.source().bytes())
                .at("/projected/sources")
                .valueStream()
                .anyMatch(source ->
                        source.at("/serviceAccountToken/audience")
                                .asString("")
                                .equals(Names.REPORT_AUDIENCE));
    }

    private static boolean isNamed(JsonNode list, String name) {
        return list.valueStream().anyMatch(it -> it.path("name").asString("").equals(name));
    }

    private static String suffix(JsonNode found) {
        return found.path("name").asString("").substring(Names.SIDECAR_CONTAINER.length());
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
        JsonNode wanted = MAPPER.readTree(ours.getValue());
        return pod.volumes().stream()
                .filter(found -> found.name().startsWith("gpusharing-"))
                .anyMatch(found -> contains(MAPPER.readTree(found.source().bytes()), wanted));
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
}
