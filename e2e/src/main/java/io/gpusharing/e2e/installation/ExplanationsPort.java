package io.gpusharing.e2e.installation;

import io.gpusharing.e2e.cluster.TestCluster;
import java.net.URI;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Where the installed scheduler of a cluster is asked why pods wait. The timekeeper is told before
 * the scheduler is there.
 */
final class ExplanationsPort {

    private static final Map<Path, Integer> PORTS = new ConcurrentHashMap<>();

    private ExplanationsPort() {}

    static int of(TestCluster cluster) {
        return PORTS.computeIfAbsent(cluster.dir(), dir -> Ports.free(1).getFirst());
    }

    static URI url(TestCluster cluster) {
        return URI.create("https://127.0.0.1:" + of(cluster));
    }
}
