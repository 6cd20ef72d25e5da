package io.gpusharing.kubernetes;

import io.fabric8.kubernetes.api.model.VolumeMount;
import io.gpusharing.sharing.Sharing;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.ValueDeserializer;

/**
 * Of a container's mounts those alone that take the place of the pod's shared memory: nearly every
 * pod has others, and they would become objects that nobody here reads.
 */
public final class SharedMemoryMounts extends ValueDeserializer<List<VolumeMount>> {

    @Override
    public List<VolumeMount> deserialize(JsonParser parser, DeserializationContext context) {
        if (parser.currentToken() != JsonToken.START_ARRAY) {
            parser.skipChildren();
            return List.of();
        }
        List<VolumeMount> found = List.of();
        while (parser.nextToken() != JsonToken.END_ARRAY) {
            String path = path(parser);
            if (Sharing.isSharedMemory(path)) {
                found = new ArrayList<>(found);
                var mount = new VolumeMount();
                mount.setMountPath(path);
                found.add(mount);
            }
        }
        return found;
    }

    @Override
    public List<VolumeMount> getNullValue(DeserializationContext context) {
        return List.of();
    }

    private static String path(JsonParser parser) {
        String path = "";
        if (parser.currentToken() == JsonToken.START_OBJECT) {
            while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
                boolean isPath = parser.currentName().equals("mountPath");
                if (parser.nextToken() == JsonToken.VALUE_STRING && isPath) {
                    path = parser.getString();
                } else {
                    parser.skipChildren();
                }
            }
        } else {
            parser.skipChildren();
        }
        return path;
    }
}
