package io.gpusharing.webhook.review;

import static io.gpusharing.webhook.review.JsonFields.begin;
import static io.gpusharing.webhook.review.JsonFields.bool;
import static io.gpusharing.webhook.review.JsonFields.field;
import static io.gpusharing.webhook.review.JsonFields.isObject;
import static io.gpusharing.webhook.review.JsonFields.list;
import static io.gpusharing.webhook.review.JsonFields.nextField;
import static io.gpusharing.webhook.review.JsonFields.number;
import static io.gpusharing.webhook.review.JsonFields.once;
import static io.gpusharing.webhook.review.JsonFields.sliceFrom;
import static io.gpusharing.webhook.review.JsonFields.text;
import static io.gpusharing.webhook.review.JsonFields.textOrEmpty;
import static io.gpusharing.webhook.review.JsonFields.texts;

import io.gpusharing.request.Quantity;
import io.gpusharing.webhook.review.PodView.Container;
import io.gpusharing.webhook.review.PodView.Metadata;
import io.gpusharing.webhook.review.PodView.Owner;
import io.gpusharing.webhook.review.PodView.Spec;
import io.gpusharing.webhook.review.PodView.Volume;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;

/**
 * Reads the few fields we need of one pod, in one pass and without a model of the rest: a typed
 * model costs ten times the work of the whole decision.
 */
public final class PodReader {

    /** Far more than a node could run. Kubernetes itself has no limit but that of an object. */
    private static final int MOST_CONTAINERS = 500;

    private final JsonParser json;
    private final byte[] document;
    private final ContainerReader containers;

    /**
     * @param json at the beginning of the pod
     * @param document what the parser reads; empty where it reads no bytes, then there are no
     *     slices
     * @param gpuResource resources that ask for GPUs
     * @param claimedResource resources for which the scheduler makes a claim
     */
    public PodReader(
            JsonParser json,
            byte[] document,
            Predicate<String> gpuResource,
            Predicate<String> claimedResource) {
        this.json = json;
        this.document = document;
        this.containers = new ContainerReader(json, document, gpuResource, claimedResource);
    }

    /**
     * Reads the pod, up to its end.
     *
     * @throws MalformedReviewException if a field is not what a pod has there
     */
    public PodView read() {
        int begin = begin(json);
        Metadata metadata = Metadata.NONE;
        Spec spec = null;
        if (isObject(json)) {
            for (String name; (name = nextField(json)) != null; ) {
                switch (name) {
                    case "metadata" -> {
                        once(metadata.equals(Metadata.NONE), name);
                        metadata = metadata();
                    }
                    case "spec" -> {
                        once(spec == null, name);
                        spec = spec();
                    }
                    default -> json.skipChildren();
                }
            }
        }
        return new PodView(
                metadata,
                spec == null ? new SpecFields().spec() : spec,
                sliceFrom(begin, json, document));
    }

    private Metadata metadata() {
        if (!isObject(json)) {
            return Metadata.NONE;
        }
        Map<String, String> labels = null;
        Map<String, String> annotations = null;
        Owner controller = null;
        for (String name; (name = nextField(json)) != null; ) {
            switch (name) {
                case "labels" -> labels = texts(json);
                case "annotations" -> annotations = texts(json);
                case "ownerReferences" -> controller = controller();
                default -> json.skipChildren();
            }
        }
        return new Metadata(labels, annotations, controller);
    }

    private @Nullable Owner controller() {
        List<Optional<Owner>> owners = list(json, this::ownerIfController);
        return owners == null
                ? null
                : owners.stream().flatMap(Optional::stream).findFirst().orElse(null);
    }

    private Optional<Owner> ownerIfController() {
        boolean controller = false;
        String apiVersion = "";
        String kind = "";
        String ownerName = "";
        String uid = "";
        if (isObject(json)) {
            for (String name; (name = nextField(json)) != null; ) {
                switch (name) {
                    case "controller" -> controller = bool(json);
                    case "apiVersion" -> apiVersion = textOrEmpty(json);
                    case "kind" -> kind = textOrEmpty(json);
                    case "name" -> ownerName = textOrEmpty(json);
                    case "uid" -> uid = textOrEmpty(json);
                    default -> json.skipChildren();
                }
            }
        }
        return controller
                ? Optional.of(new Owner(apiVersion, kind, ownerName, uid))
                : Optional.empty();
    }

    private Spec spec() {
        var fields = new SpecFields();
        if (isObject(json)) {
            for (String name; (name = nextField(json)) != null; ) {
                fields.read(name);
            }
        }
        return fields.spec();
    }

    /** A pod's spec while it is being read. */
    private final class SpecFields {

        private @Nullable List<Container> containers;
        private @Nullable List<Container> initContainers;
        private @Nullable List<Volume> volumes;
        private @Nullable String priorityClassName;
        private @Nullable Integer priority;
        private @Nullable String preemptionPolicy;
        private @Nullable String nodeName;
        private @Nullable String schedulerName;
        private final PlatformReader platforms = new PlatformReader(json);
        private @Nullable Long runAsUser;
        private boolean podLevelResources;
        private Map<String, Quantity> overhead = Map.of();
        private boolean deadline;
        private @Nullable List<String> imagePullSecrets;
        private boolean hostIpc;
        private boolean claims;

        void read(String name) {
            switch (name) {
                case "containers" -> {
                    once(containers == null, name);
                    containers = list(json, MOST_CONTAINERS, PodReader.this.containers::read);
                }
                case "initContainers" -> {
                    once(initContainers == null, name);
                    initContainers = list(json, MOST_CONTAINERS, PodReader.this.containers::read);
                }
                case "volumes" -> volumes = list(json, PodReader.this::volume);
                case "priorityClassName" -> priorityClassName = text(json);
                case "priority" -> {
                    Long number = number(json);
                    priority = number == null ? null : number.intValue();
                }
                case "preemptionPolicy" -> preemptionPolicy = text(json);
                case "nodeName" -> nodeName = text(json);
                case "schedulerName" -> schedulerName = text(json);
                case "os" -> platforms.os();
                case "nodeSelector" -> platforms.nodeSelector();
                case "affinity" -> platforms.affinity();
                case "securityContext" -> runAsUser = field(json, "runAsUser", JsonFields::number);
                case "resources" -> {
                    podLevelResources = isObject(json);
                    json.skipChildren();
                }
                case "overhead" -> overhead = PodReader.this.containers.amounts();
                case "activeDeadlineSeconds" -> {
                    deadline = json.currentToken() != JsonToken.VALUE_NULL;
                    json.skipChildren();
                }
                case "imagePullSecrets" -> imagePullSecrets = list(json, () -> named());
                case "hostIPC" -> hostIpc = bool(json);
                case "resourceClaims" -> claims = hasEntries();
                default -> json.skipChildren();
            }
        }

        Spec spec() {
            return new Spec(
                    containers == null ? List.of() : containers,
                    initContainers,
                    volumes,
                    priorityClassName,
                    priority,
                    preemptionPolicy,
                    nodeName,
                    schedulerName,
                    platforms.platforms(),
                    runAsUser,
                    podLevelResources,
                    overhead,
                    deadline,
                    imagePullSecrets,
                    hostIpc,
                    claims || PodReader.this.containers.asksForClaimed());
        }

        private boolean hasEntries() {
            List<Boolean> entries =
                    list(
                            json,
                            () -> {
                                json.skipChildren();
                                return true;
                            });
            return entries != null && !entries.isEmpty();
        }
    }

    private Volume volume() {
        int begin = begin(json);
        String volumeName = "";
        String hostPath = null;
        if (isObject(json)) {
            for (String name; (name = nextField(json)) != null; ) {
                switch (name) {
                    case "name" -> volumeName = textOrEmpty(json);
                    case "hostPath" -> hostPath = field(json, "path", JsonFields::text);
                    default -> json.skipChildren();
                }
            }
        }
        return new Volume(volumeName, hostPath, sliceFrom(begin, json, document));
    }

    /** The name of an entry of a list of named things. */
    private String named() {
        String name = field(json, "name", JsonFields::text);
        return name == null ? "" : name;
    }

    /** The metadata of an object of whatever kind; the rest of it is passed over. */
    public static Metadata readMetadata(JsonParser json) {
        json.nextToken();
        return new PodReader(json, Slice.NONE.document(), _ -> false, _ -> false).read().metadata();
    }

    /** A template that was read into memory already; it has no slices. */
    public static PodView readTemplate(JsonParser json, Predicate<String> gpuResource) {
        json.nextToken();
        return new PodReader(json, Slice.NONE.document(), gpuResource, _ -> false).read();
    }
}
