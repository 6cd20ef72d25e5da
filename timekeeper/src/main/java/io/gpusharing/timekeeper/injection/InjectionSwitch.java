package io.gpusharing.timekeeper.injection;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.gpusharing.ApiTime;
import io.gpusharing.NameList;
import io.gpusharing.Names;
import io.gpusharing.timekeeper.injection.Injection.Off;
import io.gpusharing.timekeeper.injection.Injection.On;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SortedSet;
import org.jspecify.annotations.Nullable;

/** The ConfigMap that webhook and administrators read, and that an administrator may edit. */
final class InjectionSwitch {

    private static final String ON = "On";
    private static final String ANNOUNCED = "announced";
    private static final String NAMESPACES = "namespaces";

    private final KubernetesClient client;
    private final String namespace;

    /**
     * @param namespace our own
     */
    InjectionSwitch(KubernetesClient client, String namespace) {
        this.client = client;
        this.namespace = namespace;
    }

    /**
     * What stands there.
     *
     * @param announced false from when we wrote it until the Event about it is written
     */
    record Written(Injection injection, boolean announced) {}

    /** What stands there; empty if nothing was ever written. */
    Optional<Written> read() {
        return Optional.ofNullable(map().get())
                .map(map -> new Written(read(map), !"false".equals(data(map).get(ANNOUNCED))));
    }

    /** Writes it, whatever stood there. */
    void write(Injection injection) {
        write(map().get(), injection, false);
    }

    /** The Event about it is written. If another value was written since, that is kept. */
    void announced(Injection injection) {
        ConfigMap present = map().get();
        if (present != null && read(present).equals(injection)) {
            write(present, injection, true);
        }
    }

    private void write(@Nullable ConfigMap present, Injection injection, boolean announced) {
        ConfigMap wanted =
                new ConfigMapBuilder()
                        .withNewMetadata()
                        .withName(Names.INJECTION_SWITCH)
                        .withNamespace(namespace)
                        .withResourceVersion(
                                present == null ? null : present.getMetadata().getResourceVersion())
                        .addToLabels("app.kubernetes.io/part-of", "gpusharing")
                        .endMetadata()
                        .withData(data(injection))
                        .addToData(ANNOUNCED, Boolean.toString(announced))
                        .build();
        if (present == null) {
            client.resource(wanted).create();
        } else {
            client.resource(wanted).update();
        }
    }

    private Resource<ConfigMap> map() {
        return client.configMaps().inNamespace(namespace).withName(Names.INJECTION_SWITCH);
    }

    private static Map<String, String> data(Injection injection) {
        return switch (injection) {
            case On(Instant since) -> Map.of("injection", ON, "since", since.toString());
            case Off(String image, SortedSet<String> namespaces, Instant since, int pods) -> {
                var data = new HashMap<String, String>();
                data.put("injection", "Off");
                data.put("image", image);
                data.put("since", since.toString());
                data.put("pods", Integer.toString(pods));
                if (!namespaces.isEmpty()) {
                    data.put(NAMESPACES, String.join(",", namespaces));
                }
                yield data;
            }
        };
    }

    private static Injection read(ConfigMap map) {
        Map<String, String> data = data(map);
        String image = data.get("image");
        Instant since = instant(data.getOrDefault("since", ""));
        return "Off".equals(data.get("injection")) && image != null
                ? new Off(
                        image,
                        NameList.read(data.get(NAMESPACES)),
                        since,
                        number(data.getOrDefault("pods", "0")))
                : new On(since);
    }

    private static Map<String, String> data(ConfigMap map) {
        return Objects.requireNonNullElse(map.getData(), Map.of());
    }

    /** People edit this object too; what cannot be read is as if it had not been written. */
    private static Instant instant(String text) {
        try {
            return ApiTime.read(text);
        } catch (DateTimeException e) {
            return Instant.EPOCH;
        }
    }

    private static int number(String text) {
        try {
            return Integer.parseInt(text);
        } catch (NumberFormatException e) {
            return 0;
        }
    }
}
