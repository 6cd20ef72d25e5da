package io.gpusharing.webhook.admission;

import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** What in a pod is ours. */
final class Ours {

    private Ours() {}

    /** The pod as it would be if we had not been there. */
    static ObjectNode without(ObjectNode pod) {
        ObjectNode rest = pod.deepCopy();
        for (String map : List.of("annotations", "labels")) {
            JsonNode keys = rest.path("metadata").path(map);
            if (keys.isObject()) {
                ((ObjectNode) keys).remove(keys.propertyNames().stream().filter(Ours::is).toList());
                if (keys.isEmpty()) {
                    rest.withObject("/metadata").remove(map);
                }
            }
        }
        ObjectNode spec = rest.withObject("/spec");
        spec.remove(List.of("priorityClassName", "priority", "preemptionPolicy"));
        for (String list : List.of("initContainers", "volumes")) {
            if (spec.path(list).isArray()) {
                ((ArrayNode) spec.get(list))
                        .removeIf(it -> it.path("name").asString("").startsWith("gpusharing-"));
                if (spec.path(list).isEmpty()) {
                    spec.remove(list);
                }
            }
        }
        return rest;
    }

    private static boolean is(String key) {
        return key.startsWith("gpusharing.io/") || key.equals("tencent.com/vcuda-core-limit");
    }
}
