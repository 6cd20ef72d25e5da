package io.gpusharing.e2e.story;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.gpusharing.e2e.story.PayerHistory.Written;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/**
 * An administrator who deletes budgets, makes them anew, and moves namespaces between them. What
 * the API server answered is kept: it alone says who had which namespace, and since when.
 */
final class BudgetMoves implements AutoCloseable {

    private static final int LONGEST_PAUSE_MILLIS = 4_000;
    private static final int FEWEST = 3;

    private final KubernetesClient client;
    private final List<String> namespaces;
    private final RandomGenerator random;
    private final Steps steps = new Steps("budgets", this::pause, this::step);

    /** The budgets that exist, with the namespaces that each names. */
    private final Map<String, Set<String>> present = new TreeMap<>();

    /** When the API server said that each was written last. */
    private final Map<String, Instant> stamps = new TreeMap<>();

    private final List<Written> written = new ArrayList<>();

    BudgetMoves(KubernetesClient client, List<String> namespaces, RandomGenerator random) {
        this.client = client;
        this.namespaces = List.copyOf(namespaces);
        this.random = random;
    }

    /** Each namespace has a budget of its own before anything moves. */
    void start() {
        for (int i = 0; i < namespaces.size(); i++) {
            create("budget-" + i, Set.of(namespaces.get(i)));
        }
        steps.start();
    }

    /**
     * Ends it; the budgets stay.
     *
     * @throws KubernetesClientException if a request failed: it is not known then what exists
     */
    @Override
    public void close() {
        steps.close();
    }

    /** What was written, in the order in which the API server did it; once this is closed. */
    List<Written> written() {
        return written;
    }

    private Duration pause() {
        return Duration.ofMillis(random.nextInt(100, LONGEST_PAUSE_MILLIS));
    }

    private void step() {
        String budget = oneOf(present.keySet());
        Set<String> named = Objects.requireNonNull(present.get(budget));
        switch (random.nextInt(8)) {
            case 0 -> {
                if (present.size() > FEWEST) {
                    delete(budget);
                }
            }
            case 1, 2 -> createOneThatIsGone();
            case 3 -> {
                delete(budget);
                create(budget, named);
            }
            case 4 -> write(budget, some());
            // Written, but nothing moves.
            case 5 -> patch(budget, named, Map.of("gpuMinutes", minutes()));
            default -> move(oneOf(namespaces), budget);
        }
    }

    /** In two requests or more, as every move is; which comes first is a matter of taste. */
    private void move(String namespace, String to) {
        boolean gainedFirst = random.nextBoolean();
        if (gainedFirst) {
            gain(to, namespace);
        }
        for (String from : List.copyOf(present.keySet())) {
            var left = new TreeSet<>(present.get(from));
            if (!from.equals(to) && left.remove(namespace)) {
                write(from, left);
            }
        }
        if (!gainedFirst) {
            gain(to, namespace);
        }
    }

    private void gain(String budget, String namespace) {
        var named = new TreeSet<>(present.get(budget));
        named.add(namespace);
        write(budget, named);
    }

    private void createOneThatIsGone() {
        for (int i = 0; i < namespaces.size(); i++) {
            if (!present.containsKey("budget-" + i)) {
                create("budget-" + i, some());
                return;
            }
        }
    }

    private Set<String> some() {
        var some = new TreeSet<String>();
        namespaces.stream().filter(it -> random.nextBoolean()).forEach(some::add);
        return some;
    }

    private <T> T oneOf(Collection<T> all) {
        return List.copyOf(all).get(random.nextInt(all.size()));
    }

    private String minutes() {
        return Integer.toString(random.nextInt(10_000, 20_000));
    }

    private void create(String budget, Set<String> named) {
        var object =
                Serialization.unmarshal(
                        manifest(budget, entries(budget, named), minutes()),
                        GenericKubernetesResource.class);
        record(budget, named, () -> client.resource(object).create());
    }

    static String manifest(String name, Collection<String> namespaces, String minutes) {
        return """
        apiVersion: gpusharing.io/v1alpha1
        kind: GpuBudget
        metadata: {name: %s}
        spec: {namespaces: [%s], gpuMinutes: "%s"}
        """
                .formatted(name, String.join(", ", namespaces), minutes);
    }

    /**
     * The API server stamps an edit that writes a value, as {@code kubectl apply} always does; none
     * that only takes namespaces away, as {@code kubectl edit} may.
     */
    private void write(String budget, Set<String> named) {
        var spec = new TreeMap<String, Object>(Map.of("namespaces", entries(budget, named)));
        if (random.nextBoolean()) {
            spec.put("gpuMinutes", minutes());
        }
        patch(budget, named, spec);
    }

    private void patch(String budget, Set<String> named, Map<String, Object> spec) {
        String json = Serialization.asJson(Map.of("spec", spec));
        record(
                budget,
                named,
                () -> resource(budget).patch(PatchContext.of(PatchType.JSON_MERGE), json));
    }

    private void record(
            String budget, Set<String> named, Supplier<GenericKubernetesResource> request) {
        Instant before = Instant.now();
        var answer = request.get().getMetadata();
        Instant last = stamps.getOrDefault(budget, Instant.MIN);
        written.add(Written.of(answer, last, named, before, Instant.now()));
        stamps.put(budget, Written.stamp(answer));
        present.put(budget, named);
    }

    private void delete(String budget) {
        Instant before = Instant.now();
        resource(budget).delete();
        written.add(Written.deleted(budget, before, Instant.now()));
        stamps.remove(budget);
        present.remove(budget);
    }

    /** A budget has to name one at least; this one is no namespace. */
    private static Set<String> entries(String budget, Set<String> named) {
        var entries = new TreeSet<>(named);
        entries.add("nowhere-" + budget);
        return entries;
    }

    private Resource<GenericKubernetesResource> resource(String budget) {
        return client.genericKubernetesResources("gpusharing.io/v1alpha1", "GpuBudget")
                .withName(budget);
    }
}
