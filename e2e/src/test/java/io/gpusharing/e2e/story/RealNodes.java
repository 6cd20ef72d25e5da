package io.gpusharing.e2e.story;

import io.gpusharing.e2e.admission.Api;
import io.gpusharing.e2e.cluster.Repository;
import io.gpusharing.e2e.cluster.Shared;
import io.gpusharing.e2e.cluster.TestCluster;
import io.gpusharing.e2e.installation.InClusterInstallation;
import java.util.ArrayList;
import java.util.List;

/**
 * Two real nodes with GPUSharing installed by {@code kubectl create -f deployment/}. To begin with,
 * another provider than ours offers two GPUs on each. In {@code tools/e2e-gpu} there is the first
 * node alone, and nobody offers its GPUs.
 *
 * <p>All test classes of a run that take it as a parameter ({@link OfTheRun}) get the same one,
 * which ends after the last test of all. It is installed once, so each class brings its own
 * namespaces and leaves no pods behind.
 */
final class RealNodes implements AutoCloseable {

    static final String FIRST = "gpu-node-1";
    static final String SECOND = "gpu-node-2";

    private static final String OFFERED_BY_NOBODY =
            """
            {"tencent.com/vcuda-core": null, "tencent.com/vcuda-memory": null}
            """;

    private final TestCluster cluster;
    private final InClusterInstallation installation;
    private final Api api;
    private final Ledger ledger;

    private RealNodes(TestCluster cluster) {
        this.cluster = cluster;
        this.installation = InClusterInstallation.create(cluster);
        kubectl(
                "set",
                "env",
                "deployment/gpusharing-scheduler",
                "--containers=extender",
                "GPUSHARING_EVICTING_MAXGRACE=5s",
                "GPUSHARING_RECLAIM_MAXGRACE=5s",
                "GPUSHARING_RECLAIM_PATIENCE=2s");
        installation.awaitAdmission();
        this.api = new Api(cluster.client());
        this.ledger = Ledger.bundled(cluster);
    }

    private void kubectl(String... words) {
        var command = new ArrayList<>(List.of(words));
        command.add("--namespace=gpusharing-system");
        cluster.kubectl().run(command.toArray(String[]::new)).orFail();
    }

    private static RealNodes start() {
        return TestCluster.start(Repository.root().resolve(".run/node/cluster"), RealNodes::new);
    }

    TestCluster cluster() {
        return cluster;
    }

    InClusterInstallation installation() {
        return installation;
    }

    /** The API server as an administrator sees it. */
    Api api() {
        return api;
    }

    Ledger ledger() {
        return ledger;
    }

    /** Takes the other provider away: nobody offers GPUs, until our device plugin does. */
    void withdrawOtherProvider() {
        for (String node : List.of(FIRST, SECOND)) {
            cluster.kubectl()
                    .run(
                            "patch",
                            "node",
                            node,
                            "--subresource=status",
                            "--type=merge",
                            """
                            --patch={"status": {"capacity": %s, "allocatable": %1$s}}
                            """
                                    .formatted(OFFERED_BY_NOBODY))
                    .orFail();
        }
    }

    @Override
    public void close() {
        cluster.close();
    }

    /** Gives them to the classes that have them as a parameter of their {@code @BeforeAll}. */
    static final class OfTheRun extends Shared<RealNodes> {
        OfTheRun() {
            super(RealNodes.class, RealNodes::start);
        }
    }
}
