package io.gpusharing.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Test;

class UnreadableReportTest {

    private final SimpleMeterRegistry metrics = new SimpleMeterRegistry();
    private final UnreadableObjects objects = UnreadableReport.objects(metrics);

    @Test
    void objectsThatCannotBeReadAreCountedByKindUntilTheyHaveGone() {
        fails("a");
        fails("b");
        assertThat(nodes()).isEqualTo(2);

        objects.forget(node("a"));

        assertThat(nodes()).isEqualTo(1);
    }

    private void fails(String name) {
        objects.handOver(
                node(name),
                it -> {
                    throw new IllegalArgumentException("a node like no other");
                });
    }

    private double nodes() {
        return metrics.get("gpusharing.objects.unreadable").tag("kind", "Node").gauge().value();
    }

    private static Node node(String name) {
        return new NodeBuilder().withNewMetadata().withName(name).endMetadata().build();
    }
}
