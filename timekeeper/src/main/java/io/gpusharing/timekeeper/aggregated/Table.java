package io.gpusharing.timekeeper.aggregated;

import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Objects as rows of text, which is how kubectl shows what it knows nothing of. */
record Table(
        String kind,
        String apiVersion,
        Map<String, Object> metadata,
        List<Column> columnDefinitions,
        List<Row> rows) {

    private static final String META = "meta.k8s.io/v1";

    /**
     * A column.
     *
     * @param priority above 0 it is shown with {@code -o wide} alone
     */
    record Column(String name, String type, String format, String description, int priority) {

        /** A column that is always shown. */
        Column(String name, String description) {
            this(name, "string", "", description, 0);
        }

        /** The names of the objects. */
        static Column ofNames() {
            return new Column("Name", "string", "name", "Name of the object", 0);
        }

        /** The same with {@code -o wide} alone. */
        Column wide() {
            return new Column(name, type, format, description, 1);
        }
    }

    /** The cells of an object, in the order of the columns, and the object as far as asked for. */
    record Row(List<String> cells, @Nullable Object object) {}

    /** An object without what it says. */
    private record PartialObject(String kind, String apiVersion, Object metadata) {}

    /** Whether whoever accepts this asks for a table before anything else that we have. */
    static boolean isAskedFor(String accept) {
        return accept.contains("as=Table") && accept.contains("g=meta.k8s.io");
    }

    /**
     * Makes one.
     *
     * @param list metadata of the list
     * @param include how much of each object goes along: {@code Object} for who sorts by it, {@code
     *     None}, else its metadata
     */
    static <T> Table of(
            Map<String, Object> list,
            @Nullable String include,
            List<Column> columns,
            List<T> objects,
            Function<T, List<String>> cells,
            Function<T, Object> metadata) {
        return new Table(
                "Table",
                META,
                list,
                columns,
                objects.stream()
                        .map(it -> new Row(cells.apply(it), included(include, it, metadata)))
                        .toList());
    }

    private static <T> @Nullable Object included(
            @Nullable String include, T object, Function<T, Object> metadata) {
        return switch (include) {
            case "Object" -> object;
            case "None" -> null;
            case null, default ->
                    new PartialObject("PartialObjectMetadata", META, metadata.apply(object));
        };
    }
}
