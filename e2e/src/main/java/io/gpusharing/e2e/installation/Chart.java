package io.gpusharing.e2e.installation;

import io.gpusharing.e2e.cluster.Repository;
import io.gpusharing.e2e.cluster.TestCluster;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import org.awaitility.Awaitility;

/** Creates the objects of the chart on a test cluster, and changes them. */
public final class Chart {

    private Chart() {}

    /** Creates the rendered chart in one go, as an administrator would. */
    public static void create(TestCluster cluster, URI webhook) {
        Path folder = cluster.dir().resolve("deployment");
        Manifests.writeTo(folder, webhook);
        cluster.kubectl().run("create", "-f", folder.toString()).orFail();
        awaitKinds(cluster, "gpubudgets", "gpugrants", "gpucorrections", "gpuevictions");
    }

    /** Creates the kinds of the chart alone, without any program. */
    public static void createKinds(TestCluster cluster) {
        cluster.kubectl()
                .run(
                        "create",
                        "-f",
                        Repository.root().resolve("deployment/10-crds.yaml").toString())
                .orFail();
        awaitKinds(cluster, "gpunodes", "gpureservations", "gpuevictions");
    }

    /** Waits until the API server serves these kinds of ours. */
    public static void awaitKinds(TestCluster cluster, String... plurals) {
        for (String plural : plurals) {
            // In the first moments a definition has no conditions, and kubectl takes that for an
            // error.
            Awaitility.await(plural)
                    .atMost(Duration.ofSeconds(30))
                    .untilAsserted(() ->
                            cluster.kubectl()
                                    .run(
                                            "wait",
                                            "--for=condition=Established",
                                            "crd/" + plural + ".gpusharing.io",
                                            "--timeout=10s")
                                    .orFail());
        }
    }

    /** Gives one template of the chart another value, as {@code helm upgrade --set} would. */
    public static void set(TestCluster cluster, String value, String template) {
        cluster.kubectl()
                .pipe(
                        Manifests.rendered(cluster, value, template),
                        "apply",
                        "--server-side",
                        "--force-conflicts",
                        "-f",
                        "-")
                .orFail();
    }
}
