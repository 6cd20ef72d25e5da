package io.gpusharing.timekeeper.cluster;

import static io.gpusharing.kubernetes.PodReader.POD_SCHEDULED_FIELD;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonIncludeProperties;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.FieldsV1;
import io.fabric8.kubernetes.api.model.NodeStatus;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceAllocationResult;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimStatus;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.gpusharing.kubernetes.ApiServerJson;
import io.gpusharing.kubernetes.PodReader;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.ValueDeserializer;
import tools.jackson.databind.annotation.JsonDeserialize;

/**
 * Objects without what nobody here reads. It is the larger half of a pod, and is passed over by the
 * parser instead of becoming ten thousand maps and lists that live for a moment.
 *
 * <p>What is left out is not written either: this client makes no pods and nodes, and what it
 * changes of a pod it names in a patch.
 */
public final class LeanObjects {

    private LeanObjects() {}

    /** What reads them. */
    public static KubernetesSerialization serialization() {
        return ApiServerJson.serialization(
                ApiServerJson.mapper()
                        .addMixIn(FieldsV1.class, OfFields.class)
                        .addMixIn(PodSpec.class, OfSpec.class)
                        .addMixIn(Container.class, OfContainer.class)
                        .addMixIn(NodeStatus.class, OfNode.class)
                        .addMixIn(DeviceClaim.class, WithoutParameters.class)
                        .addMixIn(DeviceAllocationResult.class, WithoutParameters.class)
                        .addMixIn(ResourceClaimStatus.class, OfClaim.class)
                        .build());
    }

    @JsonDeserialize(using = WrittenFields.class)
    private interface OfFields {}

    /**
     * Of the fields that somebody wrote, {@link PodReader#POD_SCHEDULED_FIELD} alone; null if it is
     * not there.
     */
    static final class WrittenFields extends ValueDeserializer<FieldsV1> {

        private static final FieldsV1 SCHEDULED = scheduled();

        private static FieldsV1 scheduled() {
            Object fields = Map.of();
            for (String name :
                    POD_SCHEDULED_FIELD.subList(1, POD_SCHEDULED_FIELD.size()).reversed()) {
                fields = Map.of(name, fields);
            }
            var scheduled = new FieldsV1();
            scheduled.setAdditionalProperty(POD_SCHEDULED_FIELD.getFirst(), fields);
            return scheduled;
        }

        @Override
        public @Nullable FieldsV1 deserialize(JsonParser parser, DeserializationContext context) {
            return has(parser, POD_SCHEDULED_FIELD) ? SCHEDULED : null;
        }

        /** Passes over the object at which the parser is. */
        private static boolean has(JsonParser parser, List<String> path) {
            boolean found = path.isEmpty();
            if (found || parser.currentToken() != JsonToken.START_OBJECT) {
                parser.skipChildren();
                return found;
            }
            while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
                boolean next = parser.currentName().equals(path.getFirst());
                parser.nextToken();
                if (next) {
                    found |= has(parser, path.subList(1, path.size()));
                } else {
                    parser.skipChildren();
                }
            }
            return found;
        }
    }

    /** Where a pod may be placed, and how it ends, is the scheduler's to know. */
    @JsonIncludeProperties({
        "nodeName",
        "priority",
        "priorityClassName",
        "schedulingGates",
        "resourceClaims",
        "containers",
        "initContainers"
    })
    private interface OfSpec {}

    @JsonIncludeProperties({"name", "image", "restartPolicy", "resources"})
    private interface OfContainer {}

    @JsonIgnoreProperties({"images", "volumesAttached", "volumesInUse"})
    private interface OfNode {}

    /** Whatever somebody writes for a driver to read; it may look like an object that it is not. */
    @JsonIgnoreProperties("config")
    private interface WithoutParameters {}

    /** The same of what drivers write. */
    @JsonIgnoreProperties("devices")
    private interface OfClaim {}
}
