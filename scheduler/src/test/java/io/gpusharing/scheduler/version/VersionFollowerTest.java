package io.gpusharing.scheduler.version;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpusharing.scheduler.testing.FakeApiServer;
import io.gpusharing.scheduler.testing.FakeApiServer.Answer;
import io.gpusharing.scheduler.testing.FakeApiServer.Request;
import io.gpusharing.web.Parts;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Asks and patches over HTTP, as an API server sees it. */
class VersionFollowerTest {

    private static final String DEPLOYMENT =
            "/apis/apps/v1/namespaces/gpusharing-system/deployments/gpusharing-scheduler";

    private final List<String> patches = new ArrayList<>();
    private String version = "v1.36.3";
    private String image = "registry.k8s.io/kube-scheduler:v1.30.14";
    private String condition = "{\"type\":\"Progressing\",\"status\":\"True\"}";
    private String owners = "";
    private int answer = 200;
    private final FakeApiServer api = new FakeApiServer(this::answer);
    private final KubernetesClient client = api.client();
    private final VersionFollower follower =
            new VersionFollower(
                    client,
                    new VersionProperties(
                            "gpusharing-system", "gpusharing-scheduler", "kube-scheduler"),
                    new Parts(new SimpleMeterRegistry(), rounds -> {}, Clock.systemUTC()),
                    Clock.systemUTC());

    @AfterEach
    void end() {
        client.close();
        api.close();
    }

    private Answer answer(Request request) {
        if (request.method().equals("PATCH")) {
            patches.add(request.contentType() + " " + request.body().replaceAll("\\s+", ""));
        }
        if (request.path().equals("/version")) {
            return Answer.ok(
                    "{\"major\":\"1\",\"minor\":\"36\",\"gitVersion\":\"%s\",\"buildDate\":\"2026-01-01T00:00:00Z\"}"
                            .formatted(version));
        }
        return request.path().equals(DEPLOYMENT) && answer == 200
                ? Answer.ok(
                        """
                        {"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"gpusharing-scheduler","namespace":"gpusharing-system","managedFields":[%s]},
                         "spec":{"template":{"spec":{"containers":[{"name":"kube-scheduler","image":"%s"}]}}},
                         "status":{"conditions":[%s]}}
                        """
                                .formatted(owners, image, condition))
                : Answer.status(answer, "");
    }

    @Test
    void namesTheContainerAndTheNewTagAndNothingElse() {
        follower.follow();

        assertThat(patches)
                .containsExactly(
                        "application/strategic-merge-patch+json "
                                + "{\"spec\":{\"template\":{\"spec\":{\"containers\":[{\"name\":\"kube-scheduler\",\"image\":\"registry.k8s.io/kube-scheduler:v1.36.3\"}]}}}}");
    }

    @Test
    void givesUpWhatItHasWrittenSoThatOthersMayApplyAnother() {
        image = "registry.k8s.io/kube-scheduler:v1.36.0";
        owners =
                """
                {"manager":"helm","operation":"Apply"},
                {"manager":"fabric8-kubernetes-client","operation":"Update","fieldsV1":{"f:spec":{}}},
                {"manager":"kube-controller-manager","operation":"Update","subresource":"status"},
                {"manager":"fabric8-kubernetes-client","operation":"Update","subresource":"status"}
                """;

        follower.follow();

        assertThat(patches)
                .containsExactly(
                        "application/json-patch+json "
                                + "[{\"op\":\"test\",\"path\":\"/metadata/managedFields/1/manager\",\"value\":\"fabric8-kubernetes-client\"},"
                                + "{\"op\":\"remove\",\"path\":\"/metadata/managedFields/1\"}]");
    }

    @Test
    void leavesWhatFits() {
        image = "registry.k8s.io/kube-scheduler:v1.36.0";

        follower.follow();

        assertThat(patches).isEmpty();
    }

    @Test
    void leavesAnImageWithoutAVersionAndAnApiServerWithoutOne() {
        image = "registry.k8s.io/kube-scheduler@sha256:0123";
        follower.follow();
        image = "registry.k8s.io/kube-scheduler:v1.30.14";
        version = "v1.37.0-rc.1";
        follower.follow();

        assertThat(patches).isEmpty();
    }

    @Test
    void goesToTheFirstPatchReleaseWhereTheOthersImageIsNotThere() {
        version = "v1.31.104";
        image = "registry.k8s.io/kube-scheduler:v1.31.104";
        condition =
                "{\"type\":\"Progressing\",\"status\":\"False\",\"message\":\"has timed out progressing\"}";

        follower.follow();

        assertThat(patches).singleElement().asString().contains("kube-scheduler:v1.31.0");
    }

    @Test
    void goesOnAfterAnApiServerThatRefuses() {
        answer = 403;
        follower.follow();
        answer = 404;
        follower.follow();
        answer = 200;
        follower.follow();

        assertThat(patches).hasSize(1);
    }
}
