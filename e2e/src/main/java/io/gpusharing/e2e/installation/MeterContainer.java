package io.gpusharing.e2e.installation;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.ServiceAccountTokenProjection;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeMount;
import io.fabric8.kubernetes.api.model.VolumeProjection;
import io.gpusharing.e2e.cluster.Program;
import io.gpusharing.e2e.cluster.Repository;
import io.gpusharing.e2e.cluster.TestCluster;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A container of a stored pod that holds a meter, started as kubelet would: with its environment,
 * its volumes as folders, and a token that the API server bound to this very pod.
 */
final class MeterContainer {

    private MeterContainer() {}

    /**
     * Starts it on a fake GPU.
     *
     * @param more environment over what the pod says
     * @param scenario what happens on that GPU, in the words of the sidecar's {@code Scenario}
     */
    static Program start(
            TestCluster cluster,
            String name,
            Pod pod,
            Container container,
            Map<String, String> more,
            String... scenario) {
        Path folder = cluster.dir().resolve("run/pods").resolve(pod.getMetadata().getUid());
        Map<String, Path> mounts = mount(cluster, pod, container, folder);
        var environment = new LinkedHashMap<String, String>();
        ContainerEnvironment.of(container, pod.getMetadata(), pod.getSpec(), cluster.client())
                .forEach((key, value) -> environment.put(key, translate(value, mounts)));
        environment.putAll(more);
        return Program.start(cluster, name, environment, meter(cluster, scenario));
    }

    /** Takes the place of the image: the same meter, on the NVML of its own tests. */
    private static List<String> meter(TestCluster cluster, String... scenario) {
        Path jar = Repository.jar("sidecar");
        var command =
                new ArrayList<>(
                        List.of(
                                Path.of(System.getProperty("java.home"), "bin/java").toString(),
                                "-Xmx32m",
                                "-XX:+UseSerialGC",
                                "-XX:TieredStopAtLevel=1",
                                "-Djava.io.tmpdir=" + cluster.dir().resolve("run"),
                                "--enable-native-access=ALL-UNNAMED",
                                "-cp",
                                jar + ":" + jar.toString().replace(".jar", "-tests.jar"),
                                "io.gpusharing.sidecar.FakeNvmlSidecar"));
        command.addAll(List.of(scenario));
        return command;
    }

    /** A path inside the container, as it is called outside of it. */
    private static String translate(String value, Map<String, Path> mounts) {
        for (var mount : mounts.entrySet()) {
            if (value.equals(mount.getKey()) || value.startsWith(mount.getKey() + "/")) {
                return mount.getValue() + value.substring(mount.getKey().length());
            }
        }
        return value;
    }

    private static Map<String, Path> mount(
            TestCluster cluster, Pod pod, Container container, Path folder) {
        var mounts = new LinkedHashMap<String, Path>();
        try {
            for (VolumeMount mount : container.getVolumeMounts()) {
                Path here = Files.createDirectories(folder.resolve(mount.getName()));
                mounts.put(mount.getMountPath(), here);
                for (ServiceAccountTokenProjection token : tokens(pod, mount.getName())) {
                    Files.writeString(here.resolve(token.getPath()), token(cluster, pod, token));
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return mounts;
    }

    private static List<ServiceAccountTokenProjection> tokens(Pod pod, String volume) {
        var found = new ArrayList<ServiceAccountTokenProjection>();
        for (Volume candidate : pod.getSpec().getVolumes()) {
            if (candidate.getName().equals(volume) && candidate.getProjected() != null) {
                for (VolumeProjection source : candidate.getProjected().getSources()) {
                    // The other sources of a pod's usual token volume are of no use to a meter.
                    if (source.getServiceAccountToken() != null) {
                        found.add(source.getServiceAccountToken());
                    }
                }
            }
        }
        return found;
    }

    private static String token(
            TestCluster cluster, Pod pod, ServiceAccountTokenProjection projection) {
        var arguments =
                new ArrayList<>(
                        List.of(
                                "create",
                                "token",
                                pod.getSpec().getServiceAccountName(),
                                "--namespace=" + pod.getMetadata().getNamespace(),
                                "--duration=" + projection.getExpirationSeconds() + "s",
                                "--bound-object-kind=Pod",
                                "--bound-object-name=" + pod.getMetadata().getName(),
                                "--bound-object-uid=" + pod.getMetadata().getUid()));
        if (projection.getAudience() != null) {
            arguments.add("--audience=" + projection.getAudience());
        }
        return cluster.kubectl().run(arguments.toArray(String[]::new)).orFail();
    }
}
