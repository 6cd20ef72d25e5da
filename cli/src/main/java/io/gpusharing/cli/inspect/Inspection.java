package io.gpusharing.cli.inspect;

import java.util.Comparator;
import java.util.List;

/**
 * Nodes that share their GPUs, by name.
 *
 * @param notes what is not known of them, each a sentence
 */
record Inspection(List<Host> nodes, List<String> notes) {

    Inspection {
        nodes = nodes.stream().sorted(Comparator.comparing(Host::node)).toList();
    }

    /** The same with those GPUs alone on which pods of a namespace are. */
    Inspection of(String namespace) {
        return new Inspection(
                nodes.stream()
                        .map(host -> host.of(namespace))
                        .filter(host -> !host.gpus().isEmpty() || !host.unplaced().isEmpty())
                        .toList(),
                notes);
    }
}
