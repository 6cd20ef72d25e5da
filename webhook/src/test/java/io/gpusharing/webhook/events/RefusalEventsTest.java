package io.gpusharing.webhook.events;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.groups.Tuple.tuple;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpusharing.webhook.review.PodView.Owner;
import io.gpusharing.webhook.testing.FakeApiServer;
import java.time.Clock;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class RefusalEventsTest {

    private static final String TEAM = "/namespaces/team-a";
    private static final Owner REPLICA_SET =
            new Owner("apps/v1", "ReplicaSet", "web-5d9", "uid-of-the-replicaset");
    private static final Owner WORKFLOW =
            new Owner("argoproj.io/v1alpha1", "Workflow", "train", "uid-of-the-workflow");

    private final FakeApiServer api = new FakeApiServer();
    private final KubernetesClient client = api.client();
    private final RefusalEvents events = new RefusalEvents(client, Clock.systemUTC());

    @BeforeEach
    void start() {
        knows("/apis/apps/v1", "apps/v1", "ReplicaSet", "replicasets");
        knows("/apis/argoproj.io/v1alpha1", "argoproj.io/v1alpha1", "Workflow", "workflows");
        api.put(
                "/apis/apps/v1" + TEAM + "/replicasets/web-5d9",
                """
                {"apiVersion": "apps/v1", "kind": "ReplicaSet",
                 "metadata": {"name": "web-5d9", "namespace": "team-a", "uid": "uid-of-the-replicaset",
                  "ownerReferences": [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web",
                                       "uid": "uid-of-the-deployment", "controller": true}]}}
                """);
        api.put(
                "/apis/argoproj.io/v1alpha1" + TEAM + "/workflows/train",
                """
                {"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow",
                 "metadata": {"name": "train", "namespace": "team-a", "uid": "uid-of-the-workflow"}}
                """);
        events.start();
    }

    @AfterEach
    void stop() {
        events.stop();
        client.close();
        api.close();
    }

    @Test
    void theWorkloadOfAUserGetsTheReasonWhyItsPodsAreRefused() {
        refuse(REPLICA_SET);
        refuse(WORKFLOW);

        await().untilAsserted(() ->
                assertThat(written())
                        .extracting(
                                event -> event.getInvolvedObject().getKind(),
                                event -> event.getInvolvedObject().getName(),
                                event -> event.getInvolvedObject().getUid(),
                                Event::getMessage)
                        .containsExactlyInAnyOrder(
                                tuple("Deployment", "web", "uid-of-the-deployment", "why"),
                                tuple("Workflow", "train", "uid-of-the-workflow", "why")));
    }

    @Test
    void missingOwnersGetNoEvent() {
        refuse(new Owner("apps/v1", "ReplicaSet", "made-up", "uid-of-the-replicaset"));
        refuse(new Owner("apps/v1", "ReplicaSet", "web-5d9", "uid-of-somebody-else"));
        refuse(new Owner("apps/v1", "Unknown", "web-5d9", "uid-of-the-replicaset"));
        refuse(new Owner("example.com/v1", "Unknown", "web-5d9", "uid-of-the-replicaset"));
        refuse(new Owner("../..", "", "", ""));

        onlyLaterChangesAreReported();
    }

    @Test
    void ownersThatMayNotBeReadGetNoEvent() {
        api.forbid("/apis/argoproj.io/v1alpha1/namespaces");
        refuse(WORKFLOW);

        onlyLaterChangesAreReported();
    }

    @Test
    void aNamespaceThatIsRefusedAllTheTimeLeavesRoomForOthers() {
        events.stop();
        var crowd = new Owner("apps/v1", "ReplicaSet", "made-up", "uid-of-the-replicaset");
        for (int i = 0; i < 1_000; i++) {
            events.submit(new Refusal("crowd", crowd, "why"));
        }
        refuse(REPLICA_SET);
        events.start();

        await().until(() -> !written().isEmpty());
    }

    private void onlyLaterChangesAreReported() {
        refuse(REPLICA_SET);

        await().until(() -> !written().isEmpty());
        assertThat(written())
                .singleElement()
                .extracting(event -> event.getInvolvedObject().getKind())
                .isEqualTo("Deployment");
    }

    private void refuse(Owner owner) {
        events.submit(new Refusal("team-a", owner, "why"));
    }

    private List<Event> written() {
        return client.v1().events().inNamespace("team-a").list().getItems();
    }

    /** What discovery says of a group. */
    private void knows(String path, String version, String kind, String plural) {
        api.put(
                path,
                """
                {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": "%s",
                 "resources": [{"name": "%s", "singularName": "", "namespaced": true, "kind": "%s", "verbs": ["get"]}]}
                """
                        .formatted(version, plural, kind));
    }
}
