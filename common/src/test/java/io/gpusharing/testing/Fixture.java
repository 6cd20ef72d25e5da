package io.gpusharing.testing;

import io.gpusharing.request.BoundShare;
import io.gpusharing.request.ContainerRequest;
import io.gpusharing.request.ContainerRequest.Kind;
import io.gpusharing.request.GpuShare;
import io.gpusharing.request.NodeFact;
import io.gpusharing.request.NodeFacts;
import io.gpusharing.request.PodRequest;
import io.gpusharing.request.Quantity;
import io.gpusharing.request.Rule;
import io.gpusharing.request.Violation;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.FileSystem;
import java.nio.file.FileSystemNotFoundException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.yaml.snakeyaml.Yaml;

/**
 * One row of the table that tests hold every enforcer of the request rules to: a pod manifest, and
 * in a second YAML document what it must lead to.
 *
 * @param name folder and file name, for instance {@code vcuda/invalid-core-150}
 * @param manifest the pod as its author would send it
 * @param expected the second document's {@code expect}
 */
public record Fixture(String name, Map<String, Object> manifest, Map<String, Object> expected) {

    private static final String ROOT = "/fixtures/";

    /**
     * Reads the fixtures that a pattern names.
     *
     * @param pattern folder and file name with {@code *}, for instance {@code vcuda/invalid-*}
     * @throws IllegalArgumentException if there are none
     */
    public static List<Fixture> matching(String pattern) {
        String folder = pattern.substring(0, pattern.indexOf('/'));
        String glob = "glob:" + pattern.substring(folder.length() + 1) + ".yaml";
        try (Stream<Path> files = Files.list(folder(ROOT + folder))) {
            List<Fixture> found =
                    files.filter(file ->
                                    file.getFileSystem()
                                            .getPathMatcher(glob)
                                            .matches(file.getFileName()))
                            .sorted()
                            .map(file -> read(folder, file))
                            .toList();
            if (found.isEmpty()) {
                throw new IllegalArgumentException("No fixture matches " + pattern);
            }
            return found;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** What the manifest's containers ask for. */
    public PodRequest request() {
        Map<String, Object> spec = map(manifest, "spec");
        var containers = new ArrayList<ContainerRequest>();
        list(spec, "containers").forEach(it -> containers.add(container(it, Kind.App)));
        list(spec, "initContainers")
                .forEach(it ->
                        containers.add(
                                container(
                                        it,
                                        "Always".equals(it.get("restartPolicy"))
                                                ? Kind.NativeSidecar
                                                : Kind.Init)));
        return new PodRequest(containers);
    }

    /** The violations that the second document lists, in its order. */
    public List<Violation> violations() {
        return list(expected, "violations").stream().map(Fixture::violation).toList();
    }

    /** The nodes that the second document lists, with what the pod holds on each. */
    public List<OnNode> nodes() {
        return list(expected, "nodes").stream().map(Fixture::onNode).toList();
    }

    /** What {@code key} says in micro-GPUs; the second document itself for an empty key. */
    public GpuShare share(String key) {
        return share(key.isEmpty() ? expected : map(expected, key));
    }

    @Override
    public String toString() {
        return name;
    }

    /**
     * What a pod holds on one node.
     *
     * @param name what is special about the node
     * @param facts what the node reports
     * @param holds what the pod holds there
     */
    public record OnNode(String name, NodeFacts facts, BoundShare holds) {}

    private static OnNode onNode(Map<String, Object> it) {
        var missing = EnumSet.noneOf(NodeFact.class);
        for (Object fact : (List<?>) it.getOrDefault("missing", List.of())) {
            missing.add(NodeFact.valueOf(fact.toString()));
        }
        return new OnNode(
                text(it, "name"),
                new NodeFacts(
                        amounts(map(it, "capacity")),
                        texts(map(it, "labels")),
                        texts(map(it, "annotations"))),
                new BoundShare(share(it), missing));
    }

    private static GpuShare share(Map<String, Object> it) {
        return new GpuShare(
                Long.parseLong(text(it, "compute")), Long.parseLong(text(it, "memory")));
    }

    private static Map<String, String> texts(Map<String, Object> yaml) {
        var texts = new LinkedHashMap<String, String>();
        yaml.forEach((name, value) -> texts.put(name, value.toString()));
        return texts;
    }

    private static Violation violation(Map<String, Object> it) {
        return new Violation(
                text(it, "container"),
                Objects.toString(it.get("field"), "resources.limits"),
                text(it, "resource"),
                text(it, "found"),
                Rule.valueOf(text(it, "rule")),
                text(it, "legal"));
    }

    private static ContainerRequest container(Map<String, Object> it, Kind kind) {
        Map<String, Object> resources = map(it, "resources");
        return new ContainerRequest(
                text(it, "name"),
                kind,
                amounts(map(resources, "limits")),
                amounts(map(resources, "requests")));
    }

    private static Map<String, Quantity> amounts(Map<String, Object> yaml) {
        var amounts = new LinkedHashMap<String, Quantity>();
        yaml.forEach((name, amount) -> amounts.put(name, Quantity.parse(amount.toString())));
        return amounts;
    }

    private static Fixture read(String folder, Path file) {
        try (var reader = Files.newBufferedReader(file)) {
            var documents = new Yaml().loadAll(reader).iterator();
            String name = file.getFileName().toString().replace(".yaml", "");
            return new Fixture(
                    folder + "/" + name,
                    cast(documents.next()),
                    map(cast(documents.next()), "expect"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Another module finds the table in this module's test jar. */
    static Path folder(String resource) throws IOException {
        try {
            URI uri = Objects.requireNonNull(Fixture.class.getResource(resource), resource).toURI();
            return uri.getScheme().equals("jar") ? fileSystem(uri).getPath(resource) : Path.of(uri);
        } catch (URISyntaxException e) {
            throw new IllegalArgumentException(resource, e);
        }
    }

    private static synchronized FileSystem fileSystem(URI uri) throws IOException {
        try {
            return FileSystems.getFileSystem(uri);
        } catch (FileSystemNotFoundException e) {
            return FileSystems.newFileSystem(uri, Map.of());
        }
    }

    private static Map<String, Object> map(Map<String, Object> parent, String key) {
        return cast(parent.getOrDefault(key, Map.of()));
    }

    private static List<Map<String, Object>> list(Map<String, Object> parent, String key) {
        return ((List<?>) parent.getOrDefault(key, List.of())).stream().map(Fixture::cast).toList();
    }

    private static String text(Map<String, Object> parent, String key) {
        return Objects.requireNonNull(parent.get(key), key).toString();
    }

    @SuppressWarnings("unchecked") // YAML maps of ours have text keys
    private static Map<String, Object> cast(Object yaml) {
        return (Map<String, Object>) yaml;
    }
}
