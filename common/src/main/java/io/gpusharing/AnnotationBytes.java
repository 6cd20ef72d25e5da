package io.gpusharing;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/** How long annotations are, as Kubernetes counts: keys and values in UTF-8. */
public final class AnnotationBytes {

    /** All annotations of an object together (apimachinery, ValidateAnnotations). */
    public static final int MOST = 256 * 1024;

    private AnnotationBytes() {}

    /**
     * Of all annotations together.
     *
     * @param annotations one without a value is not there
     */
    public static long of(Map<String, ? extends @Nullable String> annotations) {
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
