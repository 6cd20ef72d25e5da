package io.gpusharing.e2e.story;

import io.gpusharing.e2e.cluster.Repository;
import io.gpusharing.e2e.cluster.TestCluster;
import io.gpusharing.e2e.installation.Installation;
import java.nio.file.Path;

/**
 * {@code make demo}: starts everything, tells the story, cleans up. Exits 1 if the story is not
 * true.
 *
 * <p>{@code KEEP=1} leaves everything running and says how to look around and how to stop it.
 */
public final class Demo {

    private Demo() {}

    public static void main(String[] arguments) {
        System.exit(tell(new Terminal(System.out), "1".equals(System.getenv("KEEP"))));
    }

    private static int tell(Terminal terminal, boolean keep) {
        Path dir = Repository.root().resolve(".run/demo");
        terminal.step("A control plane with two nodes of two GPUs each");
        // Ctrl-C while it starts: tools/cluster sees this process die and cleans up itself.
        TestCluster cluster = TestCluster.start(dir);
        var cleanUp = new Thread(cluster::close);
        Runtime.getRuntime().addShutdownHook(cleanUp);
        try {
            terminal.command(
                    "kubectl get nodes",
                    cluster.kubectl().run("get", "nodes", "-o", NODES).orFail());
            terminal.step("GPUSharing: kubectl create -f deployment/, the webhook, the timekeeper");
            var installation = Installation.on(cluster, Story.PROPERTIES);
            new Story(cluster, installation, terminal).whole();
            terminal.say("");
            terminal.say("Everything above was true. It took %d s.".formatted(terminal.seconds()));
            if (keep) {
                Runtime.getRuntime().removeShutdownHook(cleanUp);
                cluster.keep();
                sayWhereItIs(terminal, cluster, installation);
            }
            return 0;
        } catch (AssertionError | RuntimeException e) {
            System.out.flush();
            System.err.println();
            System.err.println("The story is not true: " + e.getMessage());
            cluster.saveLogs(Repository.root().resolve(".run/demo-logs"));
            System.err.println("Logs of all programs: .run/demo-logs");
            return 1;
        }
    }

    private static void sayWhereItIs(
            Terminal terminal, TestCluster cluster, Installation installation) {
        terminal.say(
                """

                Everything still runs, and cuda is still charged. Look around:
                  export KUBECONFIG=%s
                  export PATH=%s:$PATH
                  kubectl get gpubudgets
                  kubectl create -n team-a -f examples/deployment.yaml   # over budget, and there is room
                Ask the timekeeper, as a service account that may see all pods here:
                  %s
                webhook      %s/metrics
                timekeeper   %s  (health and metrics: %s/metrics)
                logs         %s
                stop it with: make demo-stop\
                """
                        .formatted(
                                cluster.kubeconfig(),
                                Repository.tool("kubectl").getParent(),
                                installation.api().curl("/api/v1/budgets/team-a/explain"),
                                installation.webhook().health(),
                                installation.timekeeperUrl(),
                                installation.timekeeper().health(),
                                cluster.dir().resolve("logs")));
    }

    private static final String NODES =
            "custom-columns=NODE:.metadata.name,"
                    + "CORE:.status.allocatable.tencent\\.com/vcuda-core,"
                    + "MEMORY:.status.allocatable.tencent\\.com/vcuda-memory";
}
