package io.gpusharing.sidecar.metrics;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Prometheus' text format: one block per metric, in the order they were first named.
 *
 * <p>Source: the Prometheus exposition format, version 0.0.4.
 */
final class MetricsText {

    private final Map<String, StringBuilder> blocks = new LinkedHashMap<>();

    /** Announces a metric. Samples of one that was not announced are a mistake. */
    MetricsText metric(String name, String type, String help) {
        StringBuilder block = new StringBuilder();
        block.append("# HELP ").append(name).append(' ').append(help).append('\n');
        block.append("# TYPE ").append(name).append(' ').append(type).append('\n');
        blocks.put(name, block);
        return this;
    }

    /**
     * Adds a sample.
     *
     * @param labels name, value, name, value…
     */
    void sample(String name, String value, String... labels) {
        StringBuilder block = blocks.get(name);
        if (block == null) {
            throw new IllegalStateException(name + " was not announced");
        }
        block.append(name);
        for (int i = 0; i + 1 < labels.length; i += 2) {
            block.append(i == 0 ? '{' : ',').append(labels[i]).append("=\"");
            block.append(escaped(labels[i + 1])).append('"');
        }
        block.append(labels.length > 0 ? "} " : " ").append(value).append('\n');
    }

    private static String escaped(String value) {
        return value.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n");
    }

    @Override
    public String toString() {
        StringBuilder page = new StringBuilder();
        blocks.values().forEach(page::append);
        return page.toString();
    }
}
