package io.gpusharing.kubernetes;

import static java.util.stream.Collectors.joining;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.util.stream.IntStream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Fields that we write in objects which somebody else applies with another value, Helm for
 * instance. Who writes a field owns it, and whoever applies another value to it is refused with a
 * conflict. To a field that nobody owns everybody may apply one.
 */
public final class WrittenFields {

    /** By which API servers know this client, where it names no field manager of its own. */
    private static final String OWNER = "fabric8-kubernetes-client";

    private static final int CONFLICT = 409;
    private static final int UNPROCESSABLE = 422;

    private static final JsonMapper JSON = ApiServerJson.mapper().build();

    private WrittenFields() {}

    /**
     * Gives up whatever we own of an object, but for its status; what stands there stays. Where
     * somebody else writes it in the same moment, that is left to the next time.
     *
     * @param path of the object
     * @param object the same
     * @throws KubernetesClientException if the API server refuses, or does not answer
     */
    public static void giveUp(KubernetesClient client, String path, Resource<?> object) {
        String text = client.raw(path);
        if (text == null) {
            return;
        }
        JsonNode owners = JSON.readTree(text).at("/metadata/managedFields");
        // From the last one on, so that the others keep their places.
        String operations =
                IntStream.iterate(owners.size() - 1, i -> i >= 0, i -> i - 1)
                        .filter(i -> isOurs(owners.get(i)))
                        .mapToObj(WrittenFields::removal)
                        .collect(joining(","));
        if (operations.isEmpty()) {
            return;
        }
        try {
            object.patch(PatchContext.of(PatchType.JSON), "[" + operations + "]");
        } catch (KubernetesClientException e) {
            if (e.getCode() != CONFLICT && e.getCode() != UNPROCESSABLE) {
                throw e;
            }
        }
    }

    private static boolean isOurs(JsonNode owner) {
        return owner.path("manager").asString("").equals(OWNER)
                && owner.path("operation").asString("").equals("Update")
                && owner.path("subresource").asString("").isEmpty();
    }

    private static String removal(int place) {
        return """
        {"op":"test","path":"/metadata/managedFields/%1$d/manager","value":"%2$s"},\
        {"op":"remove","path":"/metadata/managedFields/%1$d"}\
        """
                .formatted(place, OWNER);
    }
}
