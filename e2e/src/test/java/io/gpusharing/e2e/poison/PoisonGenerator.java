package io.gpusharing.e2e.poison;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ContainerNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.util.RawValue;
import io.gpusharing.e2e.poison.Poison.Change;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.StringJoiner;

/**
 * Makes more poisons of those that were thought of: each is one of them with some of its values
 * changed. The API server does not store all of them.
 */
final class PoisonGenerator {

    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

    /**
     * What stays: where the object lies, and what would let controllers make pods without end or
     * let a pod take the GPUs of the others, which is no reader's fault.
     */
    private static final Set<String> KEPT =
            Set.of(
                    "apiVersion",
                    "kind",
                    "namespace",
                    "nodeName",
                    "nodeSelector",
                    "target",
                    "replicas",
                    "parallelism",
                    "suspend",
                    "schedule");

    private static final List<String> RESOURCES =
            List.of(
                    "cpu",
                    "memory",
                    "nvidia.com/gpu",
                    "nvidia.com/mig-1g.5gb",
                    "nvidia.com/gpumem",
                    "nvidia.com/gpucores",
                    "tencent.com/vcuda-core",
                    "tencent.com/vcuda-memory",
                    "aliyun.com/gpu-mem",
                    "cnvrg.io/metagpu",
                    "example.com/thing");

    private final SplittableRandom random;
    private final OddValues values;
    private final List<Poison> small;
    private final List<Poison> large;
    private int number;

    PoisonGenerator(long seed) {
        this.random = new SplittableRandom(seed);
        this.values = new OddValues(random);
        this.small = TellingPoisons.all().stream().filter(it -> !it.isLarge()).toList();
        this.large = TellingPoisons.all().stream().filter(Poison::isLarge).toList();
    }

    /** A value somewhere in an object. */
    private record Place(ContainerNode<?> parent, String key, JsonNode value) {

        void put(JsonNode other) {
            if (parent instanceof ObjectNode object) {
                object.set(key, other);
            } else if (parent instanceof ArrayNode array) {
                array.set(Integer.parseInt(key), other);
            }
        }
    }

    Poison next() {
        Poison base = base();
        ObjectNode object = base.object().deepCopy();
        List<Change> then =
                base.then().stream()
                        .map(it -> new Change(it.by(), it.part(), it.body().deepCopy()))
                        .toList();
        var changes = new StringJoiner(", ");
        for (int i = random.nextInt(1, 4); i > 0; i--) {
            boolean later = !then.isEmpty() && random.nextInt(3) > 0;
            changes.add(
                    change(later ? then.get(random.nextInt(then.size())).body() : object, later));
        }
        rename(object, then);
        return new Poison(base.name() + ", but " + changes, base.by(), object, then);
    }

    /** Few large ones: each costs the API server a second. */
    private Poison base() {
        List<Poison> bases = random.nextInt(50) == 0 ? large : small;
        return bases.get(random.nextInt(bases.size()));
    }

    private void rename(ObjectNode object, List<Change> then) {
        String name = "poison-g" + number++;
        object.withObject("/metadata").put("name", name);
        if (object.path("kind").asText().equals("GpuReservation")) {
            object.withObject("/spec/pod").put("uid", name);
        }
        then.stream()
                .map(Change::body)
                .filter(body -> body.has("target"))
                .forEach(body -> body.withObject("/metadata").put("name", name));
    }

    /** Makes one change, and says which. */
    private String change(ObjectNode object, boolean later) {
        int kind = later ? 0 : random.nextInt(12);
        return switch (kind) {
            case 0, 1, 2, 3, 4, 5 -> replaceAValue(object);
            case 6 -> takeAValueAway(object);
            case 7 -> {
                object.withObject("/spec").put("unknown", values.text());
                yield "a field that nobody knows";
            }
            case 8 -> nestManagedFields(object);
            case 9 -> addKeys(object, "labels", 63);
            case 10 -> addKeys(object, "annotations", 20_000);
            default -> object.at("/spec/containers/0").isObject() ? ask(object) : addMuch(object);
        };
    }

    private String replaceAValue(ObjectNode object) {
        Place place = anyPlace(object);
        JsonNode other = values.insteadOf(place.value());
        place.put(other);
        return place.key() + " is " + OddValues.inShort(other);
    }

    private String takeAValueAway(ObjectNode object) {
        Place place = anyPlace(object);
        place.put(NODES.nullNode());
        return place.key() + " is not there";
    }

    private String nestManagedFields(ObjectNode object) {
        int depth = random.nextInt(1, 9_980);
        object.withObject("/metadata")
                .putArray("managedFields")
                .addObject()
                .put("manager", "m")
                .put("operation", "Update")
                .put("apiVersion", object.path("apiVersion").asText())
                .put("time", values.time())
                .put("fieldsType", "FieldsV1")
                .putRawValue(
                        "fieldsV1",
                        new RawValue("{\"f:a\":".repeat(depth) + "{}" + "}".repeat(depth)));
        return "managed fields nested %d deep".formatted(depth);
    }

    private String addKeys(ObjectNode object, String field, int longest) {
        ObjectNode keys = object.withObject("/metadata").withObject("/" + field);
        int count = random.nextInt(1, 200);
        for (int i = 0; i < count; i++) {
            keys.put(
                    "example.com/g" + i,
                    longest > 63 ? values.text() : "v".repeat(random.nextInt(longest + 1)));
        }
        return "%d %s".formatted(count, field);
    }

    private String ask(ObjectNode object) {
        String resource = RESOURCES.get(random.nextInt(RESOURCES.size()));
        String amount = values.amount();
        ((ObjectNode) object.at("/spec/containers/0"))
                .withObject("/resources")
                .withObject("/limits")
                .put(resource, amount);
        return "%s: %s".formatted(resource, amount);
    }

    private String addMuch(ObjectNode object) {
        int size = random.nextInt(240_000);
        object.withObject("/metadata").withObject("/annotations").put("a", "<".repeat(size));
        return "%d characters more".formatted(size);
    }

    private Place anyPlace(ObjectNode object) {
        var places = new ArrayList<Place>();
        collect(object, places);
        return places.isEmpty()
                ? new Place(object.withObject("/metadata"), "generateName", NODES.nullNode())
                : places.get(random.nextInt(places.size()));
    }

    /** All values, but of a long list or many keys only some. */
    private void collect(ContainerNode<?> parent, List<Place> places) {
        if (parent instanceof ObjectNode object) {
            object.properties().stream()
                    .filter(it -> !KEPT.contains(it.getKey()))
                    .skip(parent.size() > 50 ? random.nextInt(parent.size() - 20) : 0)
                    .limit(20)
                    .forEach(it -> collect(new Place(parent, it.getKey(), it.getValue()), places));
        } else {
            int first = parent.size() > 5 ? random.nextInt(parent.size() - 2) : 0;
            for (int i = first; i < Math.min(parent.size(), first + 3); i++) {
                collect(new Place(parent, String.valueOf(i), parent.get(i)), places);
            }
        }
    }

    private void collect(Place place, List<Place> places) {
        if (place.value() instanceof ContainerNode<?> inner && !inner.isEmpty()) {
            collect(inner, places);
        } else {
            places.add(place);
        }
    }
}
