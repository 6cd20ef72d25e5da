package io.gpusharing.e2e.story;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Pod;
import io.gpusharing.e2e.cluster.Kubectl;
import io.gpusharing.e2e.cluster.TestCluster;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.time.Instant;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The cluster of a story. The narrator prints what a person would type, with its answer; what only
 * the story needs is asked in silence.
 */
record ClusterSnapshot(TestCluster cluster, Narrator narrator) {

    /** Asks without printing. */
    Kubectl.Answer kubectl(String... arguments) {
        return cluster.kubectl().run(arguments);
    }

    /** Asks, prints the answer, and accepts no refusal. */
    String succeeds(String... arguments) {
        var answer = kubectl(arguments);
        narrator.command("kubectl " + answer.command(), answer.text());
        return answer.orFail();
    }

    /** Asks for what has to be refused, and prints the answer. */
    String refused(String... arguments) {
        var answer = kubectl(arguments);
        narrator.command("kubectl " + answer.command(), answer.text());
        assertThat(answer.refused()).as("kubectl " + answer.command() + " is refused").isTrue();
        return answer.text();
    }

    /** Waits until a pod runs. */
    void running(String namespace, String pod) {
        cluster.client()
                .pods()
                .inNamespace(namespace)
                .withName(pod)
                .waitUntilReady(60, TimeUnit.SECONDS);
    }

    /** A pod, or null. */
    @Nullable Pod pod(String namespace, String name) {
        return cluster.client().pods().inNamespace(namespace).withName(name).get();
    }

    BudgetStatus status(String budget) {
        return BudgetStatus.of(cluster.client(), budget);
    }

    /** When a pod was bound to its node. */
    Instant placedAt(String namespace, String name) {
        return requireNonNull(pod(namespace, name)).getStatus().getConditions().stream()
                .filter(condition -> condition.getType().equals("PodScheduled"))
                .map(condition -> Instant.parse(condition.getLastTransitionTime()))
                .findFirst()
                .orElseThrow();
    }

    String eventsOf(String kind, String name) {
        return kubectl(
                        "get",
                        "events",
                        "-A",
                        "--sort-by=.lastTimestamp",
                        "--field-selector=involvedObject.kind="
                                + kind
                                + ",involvedObject.name="
                                + name)
                .orFail();
    }

    /** How many evictions the API server was asked for and agreed to. */
    long evictions() {
        try (Stream<String> log = Files.lines(cluster.auditLog())) {
            return log.filter(line -> line.contains("\"subresource\":\"eviction\""))
                    .filter(line -> line.contains("\"code\":201"))
                    // The scheduler first asks whether it would be allowed.
                    .filter(line -> !line.contains("\"dryRun\":[\"All\"]"))
                    .count();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
