package io.gpusharing.webhook.injection;

import io.gpusharing.Names;
import io.gpusharing.webhook.injection.Sidecar.Parts;
import io.gpusharing.webhook.injection.SidecarResources.Amounts;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import tools.jackson.core.SerializableString;
import tools.jackson.core.io.SerializedString;
import tools.jackson.databind.json.JsonMapper;

/** The metering container and its volumes as the JSON of a pod's manifest. */
final class SidecarManifest {

    static final String TOKEN_VOLUME = "gpusharing-token";
    static final String STATE_VOLUME = "gpusharing-state";

    /** Where the container reports. */
    static final String URL_VARIABLE = "GPUSHARING_TIMEKEEPER_URL";

    private static final String TOKEN_PATH = "/var/run/secrets/gpusharing.io";
    private static final String STATE_PATH = "/var/run/gpusharing";
    private static final String API_TOKEN_PATH = "/var/run/secrets/kubernetes.io/serviceaccount";
    private static final int TOKEN_SECONDS = 3600;

    private static final JsonMapper MAPPER = JsonMapper.shared();

    private final SidecarProperties properties;

    SidecarManifest(SidecarProperties properties) {
        this.properties = properties;
    }

    /**
     * Writes it for one form.
     *
     * @param ca what the container trusts, PEM
     */
    Parts render(SidecarForm form, String ca) {
        String name = Names.SIDECAR_CONTAINER + form.suffix();
        return new Parts(
                name,
                container(name, form, ca),
                volumes(form.suffix()),
                volumeNames(form.suffix()));
    }

    /** Names of its volumes. */
    static List<String> volumeNames(String suffix) {
        return List.of(TOKEN_VOLUME + suffix, STATE_VOLUME + suffix);
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
        if (!form.resources().equals(Amounts.NONE)) {
            var asked = container.putObject("resources");
            asked.set("requests", MAPPER.valueToTree(new TreeMap<>(form.resources().requests())));
            asked.set("limits", MAPPER.valueToTree(new TreeMap<>(form.resources().limits())));
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
        environment.put(URL_VARIABLE, properties.timekeeperUrl());
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
        // In memory: a volume on the disk keeps cluster-autoscaler from emptying a node.
        state.putObject("emptyDir").put("medium", "Memory").put("sizeLimit", "1Mi");
        return List.of(
                new SerializedString(token.toString()), new SerializedString(state.toString()));
    }
}
