package io.gpusharing.timekeeper.injection;

import io.fabric8.kubernetes.api.model.ObjectReferenceBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.Names;
import io.gpusharing.kubernetes.Events;
import io.gpusharing.kubernetes.Events.Text;
import io.gpusharing.kubernetes.Leadership;
import io.gpusharing.request.NodeFacts;
import io.gpusharing.timekeeper.cluster.ClusterView;
import io.gpusharing.timekeeper.cluster.PodObserver;
import io.gpusharing.timekeeper.injection.Injection.Off;
import io.gpusharing.timekeeper.injection.Injection.On;
import io.gpusharing.timekeeper.injection.InjectionSwitch.Written;
import io.gpusharing.web.LeaderTask;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.net.HttpURLConnection;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.stereotype.Component;

/**
 * Keeps breaker and switch in step: what the breaker decides is published, and what an
 * administrator writes into the switch holds. Every replica counts; only the leader publishes, and
 * goes on with what was published before.
 */
@Component
class InjectionReconciler extends LeaderTask implements PodObserver {

    private static final Logger log = LoggerFactory.getLogger(InjectionReconciler.class);

    private static final Duration EVERY = Duration.ofSeconds(5);

    /** So many namespaces fit into the text of an Event. */
    private static final int NAMED = 5;

    private final Events events;
    private final String namespace;
    private final InjectionSwitch published;
    private final PullBreaker breaker;
    private final ClusterView view;
    private final Clock clock;
    private Injection last = new On(Instant.EPOCH);
    private boolean announced = true;
    private boolean restored;

    InjectionReconciler(
            KubernetesClient client,
            @Value("${gpusharing.cluster.namespace}") String namespace,
            InjectionProperties properties,
            ClusterView view,
            MeterRegistry registry,
            Leadership leadership,
            Clock clock) {
        super("injection", leadership, clock);
        this.events = new Events(client, Names.TIMEKEEPER);
        this.namespace = namespace;
        this.published = new InjectionSwitch(client, namespace);
        this.breaker = new PullBreaker(properties.stopAfterPods());
        this.view = view;
        this.clock = clock;
        Gauge.builder(
                        "gpusharing.injection.stopped",
                        breaker,
                        it -> it.injection() instanceof Off ? 1 : 0)
                .description("1 while pods get no metering container, because nobody can pull it")
                .register(registry);
    }

    @Override
    public void onPod(Pod pod) {
        PullReading.of(pod, nodeLabels(pod))
                .ifPresent(pull -> breaker.onPod(pull, clock.instant()));
    }

    private Map<String, String> nodeLabels(Pod pod) {
        String node = pod.getSpec() == null ? null : pod.getSpec().getNodeName();
        return node == null ? Map.of() : view.node(node).map(NodeFacts::labels).orElse(Map.of());
    }

    @Override
    protected void takeOver() {
        restored = false;
    }

    /** Compares both once. Nothing is requested while all is well. */
    @Override
    protected Instant work(Instant now) {
        if (!restored) {
            published.read().ifPresent(this::restore);
            restored = true;
        }
        Injection wanted = breaker.injection();
        if (!wanted.equals(last)) {
            published.write(wanted);
            last = wanted;
            announced = false;
        } else if (announced && wanted instanceof Off) {
            follow(published.read().map(Written::injection));
        }
        if (!announced) {
            announce(wanted);
            published.announced(wanted);
            announced = true;
        }
        return now.plus(EVERY);
    }

    /** Whoever led before may have been killed before the Event. */
    private void restore(Written before) {
        breaker.restore(before.injection());
        last = before.injection();
        announced = before.announced();
    }

    /** An administrator closed it, or took the switch away. */
    private void follow(Optional<Injection> written) {
        if (written.isEmpty() || written.get() instanceof On) {
            breaker.closed(clock.instant());
        }
    }

    private void announce(Injection injection) {
        switch (injection) {
            case Off off -> {
                log.atError()
                        .addKeyValue("image", off.image())
                        .addKeyValue("pods", off.pods())
                        .addKeyValue("namespaces", off.everywhere() ? "all" : off.namespaces())
                        .log("pods get no metering container: its image cannot be pulled");
                event(
                        "off-%x-%x"
                                .formatted(off.since().toEpochMilli(), off.namespaces().hashCode()),
                        Events.Type.Warning,
                        "InjectionStopped",
                        "%s cannot be pulled in %d pods; new pods%s get no metering container and are charged by allocation"
                                .formatted(off.image(), off.pods(), ofNamespaces(off)));
            }
            case On on -> {
                log.atInfo().log("pods get the metering container again");
                event(
                        "on-%x".formatted(on.since().toEpochMilli()),
                        Events.Type.Normal,
                        "InjectionResumed",
                        "new pods get the metering container again");
            }
        }
    }

    private static String ofNamespaces(Off off) {
        int more = off.namespaces().size() - NAMED;
        return off.everywhere()
                ? ""
                : off.namespaces().stream()
                        .limit(NAMED)
                        .collect(
                                Collectors.joining(
                                        ", ",
                                        " of ",
                                        more > 0 ? " and %d namespaces more".formatted(more) : ""));
    }

    /**
     * @param id the same for the same switch, so that it is announced once
     */
    private void event(String id, Events.Type type, String reason, String message) {
        var about =
                new ObjectReferenceBuilder()
                        .withApiVersion("v1")
                        .withKind("ConfigMap")
                        .withNamespace(namespace)
                        .withName(Names.INJECTION_SWITCH)
                        .build();
        try {
            events.write(about, id, new Text(type, reason, "Inject", message), clock.instant());
        } catch (KubernetesClientException e) {
            if (e.getCode() != HttpURLConnection.HTTP_FORBIDDEN) {
                throw e;
            }
            // What counts is published; the log and the gauge say it too.
            log.atWarn().setCause(e).addKeyValue("reason", reason).log("cannot write an Event");
        }
    }
}
