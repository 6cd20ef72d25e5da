package io.gpusharing.e2e.installation;

import io.gpusharing.e2e.cluster.Repository;
import io.gpusharing.e2e.cluster.Shared;
import io.gpusharing.e2e.cluster.TestCluster;
import java.util.Map;

/**
 * A control plane with GPUSharing as the chart configures it, except that it sweeps every second.
 *
 * <p>Each class brings its own namespaces and nodes, and leaves no pods behind that wait for room.
 */
public record UsualInstallation(TestCluster cluster, Installation installation)
        implements AutoCloseable {

    private static UsualInstallation start() {
        return TestCluster.start(
                Repository.root().resolve(".run/usual"),
                cluster ->
                        new UsualInstallation(
                                cluster,
                                Installation.on(cluster, Map.of("GPUSHARING_SWEEP_EVERY", "1s"))));
    }

    @Override
    public void close() {
        cluster.close();
    }

    /** Gives it to the classes that have it as a parameter of their {@code @BeforeAll}. */
    public static final class OfTheRun extends Shared<UsualInstallation> {
        OfTheRun() {
            super(UsualInstallation.class, UsualInstallation::start);
        }
    }
}
