package io.gpusharing.scheduler.cluster;

import static java.util.stream.Collectors.toSet;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpusharing.Names;
import io.gpusharing.kubernetes.ObjectInformer;
import io.gpusharing.kubernetes.PodSharing;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.placement.Gpu;
import io.gpusharing.placement.SharedNode;
import io.gpusharing.scheduler.gpus.ClusterGpus;
import io.gpusharing.scheduler.pods.Gangs;
import io.gpusharing.scheduler.preemption.RunningPods;
import io.gpusharing.scheduler.testing.FakeApiServer;
import io.gpusharing.scheduler.testing.FakeApiServer.Answer;
import io.gpusharing.sharing.ProviderAsk;
import io.gpusharing.sharing.Strategy;
import java.net.URI;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A pod from which an administrator takes admission's label: one watch shows it, then the other.
 */
class PodWatchTest {

    private static final Predicate<URI> OTHERS = uri -> uri.getQuery().contains("fieldSelector");
    private static final String NAME = "gpusharing-scheduler";

    /** UIDs of the pods that are followed. */
    private final Set<String> followed = ConcurrentHashMap.newKeySet();

    private final RunningPods running = new RunningPods();
    private final ClusterGpus gpus = new ClusterGpus(Duration.ofSeconds(30));
    private final FakeApiServer api =
            new FakeApiServer(request -> Answer.list(OTHERS.test(request.uri()) ? "" : pod(1)));
    private final KubernetesClient client = api.client();
    private final PodWatch watch =
            new PodWatch(
                    client,
                    new GpuPodReader(new ProviderAsk(Map.of()), Strategy.BestFit, PodSharing.NONE),
                    new RunningPodReader(Gangs.OF_JOBS),
                    gpus,
                    running,
                    new ObjectInformer.Handler<>() {

                        @Override
                        public void onUpdate(Pod pod) {
                            followed.add(pod.getMetadata().getUid());
                        }

                        @Override
                        public void onDelete(Pod pod) {
                            followed.remove(pod.getMetadata().getUid());
                        }
                    },
                    new SchedulerName(NAME),
                    new UnreadableObjects(_ -> {}),
                    Clock.systemUTC());

    @BeforeEach
    void start() {
        gpus.describe(
                new SharedNode("a", List.of(new Gpu("GPU-0", 100, 16_384)), List.of(), Map.of()));
        watch.start();
        await().until(() -> isFollowed() && api.watches().size() == 2);
    }

    @AfterEach
    void stop() {
        watch.informers().forEach(ObjectInformer::close);
        client.close();
        api.close();
    }

    private static String pod(int version) {
        return """
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "lab", "uid": "u",\
         "resourceVersion": "%d", "labels": {"%s": "%s"}},\
         "spec": {"schedulerName": "%s", "nodeName": "a", "containers": [{"name": "c",\
         "resources": {"limits": {"tencent.com/vcuda-core": "1"}}}]}}\
        """
                .formatted(version, Names.METERED_LABEL, version == 1, NAME);
    }

    private void tell(Predicate<URI> watches, String event, int version) {
        api.tell(watches, "{\"type\": \"%s\", \"object\": %s}".formatted(event, pod(version)));
    }

    private boolean isFollowed() {
        return followed.contains("u");
    }

    private Set<String> holders() {
        return gpus
                .heldBeside("other", null, 0, List.of("a"), Clock.systemUTC().instant())
                .values()
                .stream()
                .flatMap(it -> it.held().keySet().stream())
                .collect(toSet());
    }

    @Test
    void keepsItsGpusWhicheverWatchIsFirstAndIsFollowedNoMore() {
        tell(OTHERS, "ADDED", 2);
        await().until(() -> watch.informers().getLast().objects().list().size() == 1);
        tell(OTHERS.negate(), "DELETED", 1);

        await().until(() -> !isFollowed());
        assertThat(holders()).containsExactly("u");

        tell(OTHERS, "DELETED", 2);
        await().until(() -> holders().isEmpty());
    }

    @Test
    void isFollowedAgainWithItsLabel() {
        tell(OTHERS.negate(), "DELETED", 1);
        await().until(() -> !isFollowed());
        tell(OTHERS, "ADDED", 2);
        tell(OTHERS.negate(), "ADDED", 1);
        tell(OTHERS, "DELETED", 2);

        await().until(this::isFollowed);
        await().until(() -> watch.informers().getLast().objects().list().isEmpty());
        assertThat(isFollowed()).isTrue();
    }
}
