package io.gpusharing.webhook.admission;

import java.util.List;
import java.util.Random;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Pods as they come: most ask for GPUs, some wrongly, and all have something else besides. */
final class RandomPods {

    private static final List<String> KEYS =
            List.of(
                    "app",
                    "a~b/c",
                    "sidecar.istio.io/inject",
                    "tencent.com/vcuda-core-limit",
                    "ü/ö");

    private RandomPods() {}

    static ObjectNode pod(Random random) {
        ObjectNode pod = JsonMapper.shared().createObjectNode();
        pod.put("apiVersion", "v1").put("kind", "Pod");
        ObjectNode metadata = pod.putObject("metadata");
        metadata.put(random.nextBoolean() ? "name" : "generateName", "p");
        for (String map : List.of("annotations", "labels")) {
            if (random.nextBoolean()) {
                ObjectNode keys = metadata.putObject(map);
                for (int i = 0; i < random.nextInt(4); i++) {
                    keys.put(KEYS.get(random.nextInt(KEYS.size())), "v" + random.nextInt(100));
                }
            }
        }
        ObjectNode spec = pod.putObject("spec");
        ArrayNode containers = spec.putArray("containers");
        for (int i = 0; i <= random.nextInt(4); i++) {
            container(containers.addObject().put("name", "c" + i), random);
        }
        if (random.nextInt(3) == 0) {
            ArrayNode init = spec.putArray("initContainers");
            for (int i = 0; i < random.nextInt(3); i++) {
                ObjectNode container = init.addObject().put("name", "i" + i);
                container(container, random);
                if (random.nextBoolean()) {
                    container.put("restartPolicy", "Always");
                }
            }
        }
        if (random.nextInt(3) == 0) {
            ArrayNode volumes = spec.putArray("volumes");
            for (int i = 0; i < random.nextInt(3); i++) {
                volumes.addObject().put("name", "v" + i).putObject("emptyDir");
            }
        }
        if (random.nextInt(4) == 0) {
            spec.putObject("securityContext").put("runAsUser", random.nextInt(2) * 1000);
        }
        if (random.nextInt(6) == 0) {
            spec.putObject("resources").putObject("limits").put("cpu", "4");
        }
        if (random.nextInt(5) == 0) {
            spec.put("priorityClassName", "urgent").put("priority", 1000);
        }
        return pod;
    }

    private static void container(ObjectNode container, Random random) {
        container.put("image", "registry/image:" + random.nextInt(9));
        if (random.nextInt(3) == 0) {
            container.putArray("env").addObject().put("name", "A").put("value", "\u2603 \" \\ \n");
        }
        ObjectNode limits = container.putObject("resources").putObject("limits");
        if (random.nextBoolean()) {
            limits.put("cpu", "1").put("memory", "1Gi");
        }
        switch (random.nextInt(6)) {
            case 0 -> {}
            case 1 -> limits.put("tencent.com/vcuda-core", 100 * (1 + random.nextInt(3)));
            case 2 -> limits.put("tencent.com/vcuda-core", random.nextInt(300));
            default ->
                    limits.put("tencent.com/vcuda-core", 1 + random.nextInt(99))
                            .put("tencent.com/vcuda-memory", 1 + random.nextInt(60));
        }
    }
}
