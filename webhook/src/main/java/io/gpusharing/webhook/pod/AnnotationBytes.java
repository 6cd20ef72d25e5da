package io.gpusharing.webhook.pod;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/** How long annotations are, as Kubernetes counts: keys and values in UTF-8. */
final class AnnotationBytes {

    private AnnotationBytes() {}

    /**
     * @param annotations one without a value is not there
     */
    static long of(Map<String, ? extends @Nullable String> annotations) {
        long bytes = 0;
        for (Map.Entry<String, ? extends @Nullable String> annotation : annotations.entrySet()) {
            String value = annotation.getValue();
            if (value != null) {
                bytes += annotation.getKey().getBytes(UTF_8).length;
                bytes += value.getBytes(UTF_8).length;
            }
        }
        return bytes;
    }
}
