package io.gpusharing.e2e.recording;

import io.gpusharing.e2e.cluster.Repository;
import io.gpusharing.e2e.cluster.TestCluster;
import io.gpusharing.e2e.installation.InClusterInstallation;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * {@code make record}: lives through all {@link Lives} on real nodes, with GPUSharing installed,
 * and writes what the API server stored. {@code -Dlives=begin-.*} records only those.
 */
public final class RecordLives {

    private static final Path TARGET = Repository.root().resolve("e2e/src/test/resources/recorded");

    private RecordLives() {}

    public static void main(String[] arguments) {
        System.exit(record(System.getProperty("lives", ".*")));
    }

    private static int record(String wanted) {
        List<Life> lives =
                Lives.all().stream().filter(life -> life.name().matches(wanted)).toList();
        Path dir = Repository.root().resolve(".run/node/cluster");
        var lived = new ArrayList<Life>();
        try (TestCluster cluster = TestCluster.start(dir)) {
            InClusterInstallation.on(cluster);
            String kubernetes = cluster.client().getKubernetesVersion().getGitVersion();
            try (var recorder = new Recorder(cluster)) {
                lived.addAll(together(cluster, recorder, lives));
                for (Life life : lives.stream().filter(Life::alone).toList()) {
                    if (live(cluster, recorder, life)) {
                        lived.add(life);
                    }
                }
                for (Life life : lived) {
                    var versions = recorder.of(life.name());
                    Recording.of(life, kubernetes, versions, cluster.auditLog()).write(TARGET);
                }
            }
        }
        System.out.printf("%d of %d lives are recorded%n", lived.size(), lives.size());
        return lived.size() == lives.size() ? 0 : 1;
    }

    /** All that disturb nobody, at once; those that went as they should. */
    private static List<Life> together(TestCluster cluster, Recorder recorder, List<Life> lives) {
        var running = new LinkedHashMap<Life, Future<Boolean>>();
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (Life life : lives) {
                if (!life.alone()) {
                    running.put(life, threads.submit(() -> live(cluster, recorder, life)));
                }
            }
        }
        return running.entrySet().stream()
                .filter(life -> life.getValue().resultNow())
                .map(Map.Entry::getKey)
                .toList();
    }

    /** Whether it went as it should. What did not keeps its older recording. */
    private static boolean live(TestCluster cluster, Recorder recorder, Life life) {
        System.out.println(life.name());
        try {
            var context = new LifeContext(cluster, recorder, life.name());
            context.open();
            life.script().on(context);
            context.away();
            return true;
        } catch (AssertionError | RuntimeException e) {
            System.out.println(life.name() + " was not as it should have been: " + e.getMessage());
            return false;
        }
    }
}
