package io.gpusharing.webhook.injection;

import io.gpusharing.Names;
import io.gpusharing.request.Quantity;
import io.gpusharing.webhook.injection.SidecarResources.Amounts;
import io.gpusharing.webhook.injection.SidecarResources.DoesNotFit;
import io.gpusharing.webhook.injection.SidecarResources.Fit;
import io.gpusharing.webhook.review.PodView;
import io.gpusharing.webhook.review.PodView.Container;
import io.gpusharing.webhook.review.PodView.Volume;
import io.gpusharing.webhook.standing.ContainerLimits;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import tools.jackson.core.SerializableString;
import tools.jackson.core.io.SerializedString;
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

    private static final String TOKEN_VOLUME = "gpusharing-token";
    private static final String STATE_VOLUME = "gpusharing-state";
    private static final String TOKEN_PATH = "/var/run/secrets/gpusharing.io";
    private static final String STATE_PATH = "/var/run/gpusharing";
    private static final String API_TOKEN_PATH = "/var/run/secrets/kubernetes.io/serviceaccount";
    private static final int TOKEN_SECONDS = 3600;

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
    private final Map<Key, Parts> rendered = new ConcurrentHashMap<>();

    /**
     * @param properties image, resources and where it reports
     */
    public Sidecar(SidecarProperties properties) {
        this.properties = properties;
        this.resources = new SidecarResources(properties);
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
     * @param ca what the container trusts, PEM
     * @param demanded what the namespace demands of every container
     */
    public Plan planFor(PodView pod, String ca, ContainerLimits demanded) {
        Optional<String> present = presentIn(pod, ca, demanded);
        if (present.isPresent()) {
            return new Plan.Present(present.get());
        }
        return switch (resources.in(pod, "", demanded)) {
            case DoesNotFit(String reason) -> new Plan.LeaveOut(reason);
            case Fit fit -> new Plan.Add(parts(SidecarForm.of(pod, freeSuffix(pod), fit), ca));
        };
    }

    private Parts parts(SidecarForm form, String ca) {
        // The few usual forms are the same text for every pod.
        return form.suffix().isEmpty()
                ? rendered.computeIfAbsent(new Key(form, ca), key -> render(form, ca))
                : render(form, ca);
    }

    /**
     * Name of the container in this pod that is exactly what we would add, volumes included. The
     * name alone proves nothing: users may use it too.
     */
    private Optional<String> presentIn(PodView pod, String ca, ContainerLimits demanded) {
        return pod.initContainers().stream()
                .filter(container -> container.name().startsWith(Names.SIDECAR_CONTAINER))
                .filter(container -> isOurs(container, pod, ca, demanded))
                .map(Container::name)
                .findFirst();
    }

    private boolean isOurs(Container container, PodView pod, String ca, ContainerLimits demanded) {
        String suffix = container.name().substring(Names.SIDECAR_CONTAINER.length());
        Fit fit = resources.in(pod, container.name(), demanded);
        Parts ours = render(SidecarForm.of(pod, suffix, fit), ca);
        return contains(MAPPER.readTree(container.source().bytes()), ours.container())
                && ours.volumes().stream().allMatch(volume -> hasVolume(pod, volume));
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
                                            .allMatch(mount ->
                                                    theirs.valueStream()
                                                            .anyMatch(it -> contains(it, mount)));
                            case "limits", "requests" -> sameAmounts(theirs, field.getValue());
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

    private static boolean sameAmounts(JsonNode found, JsonNode ours) {
        return amounts(found).equals(amounts(ours));
    }

    private static Map<String, Quantity> amounts(JsonNode node) {
        return node.propertyStream()
                .collect(
                        Collectors.toMap(
                                Map.Entry::getKey,
                                entry -> Quantity.parse(entry.getValue().asString(""))));
    }

    /** A suffix that makes none of our names collide with one of the pod's. */
    private static String freeSuffix(PodView pod) {
        return Stream.concat(Stream.of(""), IntStream.rangeClosed(2, 1000).mapToObj(n -> "-" + n))
                .filter(suffix -> isFree(pod, suffix))
                .findFirst()
                .orElseThrow();
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
            if (volume.name().equals(TOKEN_VOLUME + suffix)
                    || volume.name().equals(STATE_VOLUME + suffix)) {
                return false;
            }
        }
        return true;
    }

    private Parts render(SidecarForm form, String ca) {
        String name = Names.SIDECAR_CONTAINER + form.suffix();
        return new Parts(name, container(name, form, ca), volumes(form.suffix()));
    }

    private SerializableString container(String name, SidecarForm form, String ca) {
        var container = MAPPER.createObjectNode();
        container.put("name", name);
        container.put("image", properties.image());
        container.put("imagePullPolicy", properties.pullPolicy());
        container.put("restartPolicy", "Always");
        var env = container.putArray("env");
        environment(ca)
                .forEach((key, value) -> env.addObject().put("name", key).put("value", value));
        fieldReferences()
                .forEach((key, path) ->
                        env.addObject()
                                .put("name", key)
                                .putObject("valueFrom")
                                .putObject("fieldRef")
                                .put("fieldPath", path));
        if (form.resources() instanceof Amounts(var requests, var limits)) {
            var asked = container.putObject("resources");
            asked.set("requests", MAPPER.valueToTree(new TreeMap<>(requests)));
            asked.set("limits", MAPPER.valueToTree(new TreeMap<>(limits)));
        }
        var security = container.putObject("securityContext");
        security.put("allowPrivilegeEscalation", false);
        security.put("readOnlyRootFilesystem", true);
        security.put("runAsNonRoot", true);
        if (form.rootPod()) {
            security.put("runAsUser", properties.runAsUser());
        }
        security.putObject("capabilities").putArray("drop").add("ALL");
        security.putObject("seccompProfile").put("type", "RuntimeDefault");
        var mounts = container.putArray("volumeMounts");
        mounts.addObject()
                .put("name", TOKEN_VOLUME + form.suffix())
                .put("mountPath", TOKEN_PATH)
                .put("readOnly", true);
        mounts.addObject().put("name", STATE_VOLUME + form.suffix()).put("mountPath", STATE_PATH);
        // Where something is mounted already, the API server mounts no token: that of the pod's
        // service account speaks for the tenant, and a meter has no use for it.
        mounts.addObject()
                .put("name", STATE_VOLUME + form.suffix())
                .put("mountPath", API_TOKEN_PATH)
                .put("subPath", "no-token")
                .put("readOnly", true);
        return new SerializedString(container.toString());
    }

    private Map<String, String> environment(String ca) {
        var environment = new TreeMap<>(properties.env());
        environment.put("GPUSHARING_TIMEKEEPER_URL", properties.timekeeperUrl());
        environment.put("GPUSHARING_CA", ca);
        environment.put("GPUSHARING_TOKEN_FILE", TOKEN_PATH + "/token");
        environment.put("GPUSHARING_STATE_DIR", STATE_PATH);
        return environment;
    }

    private static Map<String, String> fieldReferences() {
        return new TreeMap<>(
                Map.of(
                        "GPUSHARING_NAMESPACE", "metadata.namespace",
                        "GPUSHARING_POD", "metadata.name",
                        "GPUSHARING_POD_UID", "metadata.uid",
                        "GPUSHARING_NODE", "spec.nodeName",
                        "GPUSHARING_REQUEST",
                                "metadata.annotations['" + Names.REQUEST_ANNOTATION + "']"));
    }

    private static List<SerializableString> volumes(String suffix) {
        var token = MAPPER.createObjectNode().put("name", TOKEN_VOLUME + suffix);
        token.putObject("projected")
                .putArray("sources")
                .addObject()
                .putObject("serviceAccountToken")
                .put("audience", Names.REPORT_AUDIENCE)
                .put("expirationSeconds", TOKEN_SECONDS)
                .put("path", "token");
        var state = MAPPER.createObjectNode().put("name", STATE_VOLUME + suffix);
        state.putObject("emptyDir").put("sizeLimit", "1Mi");
        return List.of(
                new SerializedString(token.toString()), new SerializedString(state.toString()));
    }
}
