package io.gpusharing.e2e.story;

import io.gpusharing.e2e.cluster.Repository;
import io.gpusharing.e2e.cluster.TestCluster;
import io.gpusharing.e2e.installation.InClusterInstallation;
import io.gpusharing.e2e.installation.Installation;
import io.gpusharing.e2e.installation.InstalledServices;
import java.nio.file.Path;

/**
 * {@code make demo}, and inside a machine of its own {@code make node}: starts everything, shows
 * the story, cleans up. Exits 1 if the story is not true.
 *
 * <p>{@code KEEP=1} leaves everything running and says how to look around and how to stop it.
 */
public final class Demo {

    private static final Path DEMO = Repository.root().resolve(".run/demo");
    private static final Path NODE = Repository.root().resolve(".run/node/cluster");

    private Demo() {}

    public static void main(String[] arguments) {
        System.exit(run(new Terminal(System.out), "1".equals(System.getenv("KEEP"))));
    }

    private static int run(Terminal terminal, boolean keep) {
        Path dir = TestCluster.hasRealNodes() ? NODE : DEMO;
        terminal.step("A control plane with two nodes of two GPUs each");
        // Ctrl-C while it starts: tools/cluster sees this process die and cleans up itself.
        TestCluster cluster = TestCluster.start(dir);
        var cleanUp = new Thread(cluster::close);
        Runtime.getRuntime().addShutdownHook(cleanUp);
        try {
            terminal.command(
                    "kubectl get nodes",
                    cluster.kubectl().run("get", "nodes", "-o", NODES).orFail());
            InstalledServices services = install(terminal, cluster);
            if (TestCluster.hasRealNodes()) {
                new Story(cluster, services, terminal).whole();
            } else {
                var placement = new PlacementStory(cluster, services, terminal);
                new Story(cluster, services, terminal).whole();
                placement.whole();
            }
            terminal.say("");
            terminal.say("Everything above was true. It took %d s.".formatted(terminal.seconds()));
            if (keep) {
                Runtime.getRuntime().removeShutdownHook(cleanUp);
                cluster.keep();
                terminal.say("\nEverything still runs, and pods are still charged. Look around:");
                terminal.say(services.howToExplore());
            }
            return 0;
        } catch (AssertionError | RuntimeException e) {
            System.out.flush();
            System.err.println();
            System.err.println("The story is not true: " + e.getMessage());
            System.err.println("Logs of all programs: " + cluster.savedLogs());
            return 1;
        }
    }

    private static InstalledServices install(Terminal terminal, TestCluster cluster) {
        if (TestCluster.hasRealNodes()) {
            terminal.step("GPUSharing: kubectl create -f deployment/, and all its pods are ready");
            var services = InClusterInstallation.on(cluster);
            terminal.command(
                    "kubectl get pods -n gpusharing-system -o wide",
                    cluster.kubectl()
                            .run("get", "pods", "-n", "gpusharing-system", "-o", "wide")
                            .orFail());
            return services;
        }
        terminal.step("GPUSharing: kubectl create -f deployment/, the webhook, the timekeeper");
        return Installation.on(cluster, Story.PROPERTIES);
    }

    private static final String NODES =
            "custom-columns=NODE:.metadata.name,"
                    + "CORE:.status.allocatable.tencent\\.com/vcuda-core,"
                    + "MEMORY:.status.allocatable.tencent\\.com/vcuda-memory";
}
