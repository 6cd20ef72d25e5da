package io.gpusharing.e2e.poison;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.e2e.admission.Api;
import io.gpusharing.e2e.cluster.Repository;
import io.gpusharing.e2e.cluster.TestCluster;
import io.gpusharing.e2e.installation.Installation;
import io.gpusharing.e2e.installation.PlacingScheduler;
import io.gpusharing.e2e.installation.Service;
import io.gpusharing.e2e.installation.SimulatedDevicePlugin;
import io.gpusharing.e2e.poison.Poison.Outcome;
import io.gpusharing.e2e.story.Ledger;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

/**
 * A control plane with all services of ours, the scheduler included, and with two nodes of two GPUs
 * each that it hands out. It is told at once what else would take minutes.
 */
final class PoisonedCluster implements AutoCloseable {

    private static final Map<String, String> PROPERTIES =
            Map.of(
                    "GPUSHARING_SWEEP_EVERY", "1s",
                    "GPUSHARING_BUDGETS_STATUSREFRESH", "1s",
                    "GPUSHARING_BUDGETS_STATUSSPACING", "1s");

    private final TestCluster cluster;
    private final Installation installation;
    private final PlacingScheduler scheduler;
    private final PoisonedNamespaces namespaces;
    private final Ledger ledger;
    private final Map<Outcome, Integer> outcomes = new EnumMap<>(Outcome.class);
    private AskedOfTheApiServer asked;
    private int rounds;

    private PoisonedCluster(TestCluster cluster) {
        this.cluster = cluster;
        this.installation = Installation.on(cluster, PROPERTIES);
        var starting = CompletableFuture.supplyAsync(() -> PlacingScheduler.installed(cluster));
        this.namespaces = PoisonedNamespaces.create(cluster);
        this.ledger = Ledger.of(cluster, installation);
        for (String node : List.of("gpu-node-1", "gpu-node-2")) {
            cluster.kubectl().run("label", "node", node, "gpusharing.io/gpus=shared").orFail();
            SimulatedDevicePlugin.describe(cluster, node, 2);
        }
        this.scheduler = starting.join();
        this.asked = AskedOfTheApiServer.fromNowOn(cluster);
    }

    static PoisonedCluster start(String name) {
        return TestCluster.start(Repository.root().resolve(".run/" + name), PoisonedCluster::new);
    }

    Api administrator() {
        return namespaces.administrator();
    }

    Ledger ledger() {
        return ledger;
    }

    /** How many poisons were stored, and how many were refused by whom. */
    Map<Outcome, Integer> outcomes() {
        return Map.copyOf(outcomes);
    }

    /**
     * Has one stored, and changed.
     *
     * @return what became of its creation, and then of each change
     */
    List<Outcome> store(Poison poison) {
        List<Outcome> done = poison.store(namespaces::as);
        outcomes.merge(done.getFirst(), 1, Integer::sum);
        return done;
    }

    /** Other teams with each call. */
    InnocentPods innocents() {
        return new InnocentPods(cluster, ledger, ++rounds);
    }

    /** Lets all services list everything, as after a crash. */
    void restartServices() {
        services().forEach(service -> service.program().kill());
        services().forEach(Service::restart);
        services().forEach(Service::awaitReady);
        installation.awaitAdmission();
        asked = AskedOfTheApiServer.fromNowOn(cluster);
    }

    /** Deletes all pods that are poisons. */
    void clear() {
        namespaces.clear();
    }

    void everyPartIsReady() {
        assertThat(services())
                .allSatisfy(service -> {
                    assertThat(service.ready()).as("%s is ready", service.program()).isTrue();
                    assertThat(service.failingParts()).as(service.program().toString()).isEmpty();
                });
    }

    /**
     * An object that ends a watch ends it again and again. The webhook lists nothing but what it
     * then watches; rounds of the others list by the second.
     */
    void nothingIsListedMoreThanTwice() {
        assertThat(asked.watchesCutShort()).allSatisfy((what, times) -> atMost(2, what, times));
        assertThat(asked.lists())
                .allSatisfy((what, times) ->
                        atMost(
                                what.startsWith("gpusharing-webhook") ? 2 : 3 * asked.seconds(),
                                what,
                                times));
    }

    private static void atMost(long most, String what, long times) {
        assertThat(times).as(what).isLessThanOrEqualTo(most);
    }

    /**
     * How many objects each service says that it cannot read.
     *
     * @param kind of this kind; empty for all
     */
    Map<String, Long> unreadable(String kind) {
        String metric = "gpusharing_objects_unreadable{kind=\"" + kind;
        var unreadable = new HashMap<String, Long>();
        services()
                .forEach(service ->
                        unreadable.put(
                                service.program().toString(), Math.round(service.sum(metric))));
        return unreadable;
    }

    private Stream<Service> services() {
        return Stream.of(installation.webhook(), installation.timekeeper(), scheduler.extender());
    }

    @Override
    public void close() {
        cluster.close();
    }
}
