package io.gpusharing.request.grammar;

import static io.gpusharing.request.Rule.ONE_PROVIDER;

import io.gpusharing.request.ContainerRequest;
import io.gpusharing.request.PodRequest;
import io.gpusharing.request.Quantity;
import io.gpusharing.request.RequestGrammar;
import io.gpusharing.request.Verdict;
import io.gpusharing.request.Verdict.Illegal;
import io.gpusharing.request.Verdict.NotOurs;
import io.gpusharing.request.Violation;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.function.Supplier;

/**
 * The grammars a site has switched on, asked as one. A pod speaks the first of them that reads all
 * that it asks for: {@code nvidia.com/gpu} alone is NVIDIA's word, and HAMi's beside {@code
 * nvidia.com/gpumem}. What it is worth then says the node, which knows whose device plugin it runs.
 */
public final class RequestGrammars {

    private static final Map<String, Supplier<RequestGrammar>> BY_NAME = new LinkedHashMap<>();

    static {
        BY_NAME.put("vcuda", VcudaGrammar::new);
        BY_NAME.put("aliyun", AliyunGrammar::new);
        BY_NAME.put("metagpu", MetagpuGrammar::new);
        BY_NAME.put("nvidia", NvidiaGrammar::new);
        BY_NAME.put("hami", HamiGrammar::new);
    }

    private final List<RequestGrammar> grammars;

    /**
     * @param grammars in order of precedence
     * @throws IllegalArgumentException if there are more than 64
     */
    public RequestGrammars(List<RequestGrammar> grammars) {
        if (grammars.size() > Long.SIZE) {
            throw new IllegalArgumentException("At most 64 grammars, not " + grammars.size());
        }
        this.grammars = List.copyOf(grammars);
    }

    /**
     * The grammars that a site names in its configuration.
     *
     * @param names of {@link #names()}, each at most once
     * @param custom extended resources of the site's own
     * @throws IllegalArgumentException with advice, if a name is unknown or given twice, if a
     *     grammar reads a custom resource, or if there is no grammar at all
     */
    public static RequestGrammars of(List<String> names, List<CustomResource> custom) {
        return of(names, new GrammarSettings(custom, Map.of()));
    }

    /**
     * The same, where the site says more about its resources.
     *
     * @throws IllegalArgumentException as {@link #of(List, List)}, or if a GPU has less than one
     *     unit of a resource of metagpu, or another grammar reads it
     */
    public static RequestGrammars of(List<String> names, GrammarSettings settings) {
        var chosen = new LinkedHashMap<String, RequestGrammar>();
        for (String name : names) {
            Supplier<RequestGrammar> grammar = BY_NAME.get(name);
            if (grammar == null) {
                throw new IllegalArgumentException(
                        "There is no grammar \"%s\"; the known ones are %s"
                                .formatted(name, String.join(", ", BY_NAME.keySet())));
            }
            if (chosen.put(name, grammar.get()) != null) {
                throw new IllegalArgumentException(
                        "The grammar \"%s\" is named twice; name it once".formatted(name));
            }
        }
        chosen.computeIfPresent(
                "vcuda", (name, vcuda) -> new VcudaGrammar(settings.defaultMemoryPerGpu()));
        chosen.computeIfPresent(
                "hami", (name, hami) -> new HamiGrammar(settings.hamiDefaultGpus()));
        chosen.computeIfPresent(
                "metagpu", (name, metagpu) -> new MetagpuGrammar(settings.metagpuUnits()));
        for (String resource : settings.metagpuUnits().keySet()) {
            chosen.forEach((name, grammar) -> {
                if (!name.equals("metagpu") && grammar.reads(resource)) {
                    throw new IllegalArgumentException(
                            "%s is read by the grammar %s and cannot be a resource of metagpu, too"
                                    .formatted(resource, name));
                }
            });
        }
        for (CustomResource resource : settings.custom()) {
            chosen.forEach((name, grammar) -> {
                if (grammar.reads(resource.resource())) {
                    throw new IllegalArgumentException(
                            "The custom resource %s is already read by the grammar %s;"
                                            .formatted(resource.resource(), name)
                                    + " remove one of the two");
                }
            });
        }
        var all = new ArrayList<>(chosen.values());
        if (!settings.custom().isEmpty()) {
            all.add(new CustomGrammar(settings.custom()));
        }
        if (all.isEmpty()) {
            throw new IllegalArgumentException(
                    "No grammar is named, so no pod would ever ask for a GPU; name at least one of "
                            + String.join(", ", BY_NAME.keySet()));
        }
        return new RequestGrammars(all);
    }

    /** The names that {@link #of} knows. */
    public static List<String> names() {
        return List.copyOf(BY_NAME.keySet());
    }

    /** One of each kind; two of them may read the same resource. */
    static List<RequestGrammar> known() {
        return BY_NAME.values().stream().map(Supplier::get).toList();
    }

    /**
     * Names of the grammars that read the resource and could be named beside these; none if only a
     * custom resource can give it a worth.
     */
    public List<String> couldBeReadBy(String resource) {
        List<String> named = grammars.stream().map(RequestGrammar::name).toList();
        return GpuNames.readers(resource).stream().filter(name -> !named.contains(name)).toList();
    }

    /** Whether any grammar gives the resource a meaning. */
    public boolean reads(String resource) {
        return readersOf(resource) != 0;
    }

    /** The verdict of the one grammar that the pod speaks; speaking two is a violation. */
    public Verdict judge(PodRequest pod) {
        Spoken spoken = Spoken.in(pod, this);
        if (spoken.some() == 0) {
            return new NotOurs();
        }
        return spoken.all() == 0
                ? new Illegal(mixed(pod, spoken.first()))
                : grammars.get(spoken.first()).judge(pod);
    }

    /** The grammar that a pod speaks; empty if it asks for no GPU. */
    public Optional<RequestGrammar> grammarOf(PodRequest pod) {
        Spoken spoken = Spoken.in(pod, this);
        return spoken.some() == 0 ? Optional.empty() : Optional.of(grammars.get(spoken.first()));
    }

    /** The request with the amounts that the site gives; see {@link RequestGrammar#completed}. */
    public PodRequest completed(PodRequest pod) {
        Spoken spoken = Spoken.in(pod, this);
        return spoken.some() == 0 ? pod : grammars.get(spoken.first()).completed(pod);
    }

    /**
     * Which grammars read what a pod asks for, one bit each.
     *
     * @param some those that read any of it
     * @param all those that read all of it
     */
    private record Spoken(long some, long all) {

        static Spoken in(PodRequest pod, RequestGrammars grammars) {
            long some = 0;
            long all = -1;
            for (ContainerRequest container : pod.containers()) {
                for (Map<String, Quantity> amounts :
                        List.of(container.limits(), container.requests())) {
                    for (Map.Entry<String, Quantity> amount : amounts.entrySet()) {
                        long readers = grammars.readersOf(amount.getKey());
                        if (readers != 0 && !amount.getValue().isZero()) {
                            some |= readers;
                            all &= readers;
                        }
                    }
                }
            }
            return new Spoken(some, all);
        }

        /** The one that the pod speaks; of two at once the first. */
        int first() {
            return Long.numberOfTrailingZeros(all == 0 ? some : all);
        }
    }

    /** One bit for each grammar that reads the resource. */
    private long readersOf(String resource) {
        // Extended resources have a domain; cpu, memory and their like do not.
        if (resource.indexOf('/') < 0) {
            return 0;
        }
        long readers = 0;
        for (int i = 0; i < grammars.size(); i++) {
            if (grammars.get(i).reads(resource)) {
                readers |= 1L << i;
            }
        }
        return readers;
    }

    private List<Violation> mixed(PodRequest pod, int first) {
        var violations = new ArrayList<Violation>();
        for (ContainerRequest container : pod.containers()) {
            var names = new TreeSet<>(container.limits().keySet());
            names.addAll(container.requests().keySet());
            for (String name : names) {
                long readers = readersOf(name);
                Quantity limit = container.limits().get(name);
                Quantity request = container.requests().get(name);
                boolean limited = limit != null && !limit.isZero();
                Quantity asked = limited ? limit : request;
                boolean foreign = readers != 0 && (readers & 1L << first) == 0;
                if (foreign && asked != null && !asked.isZero()) {
                    violations.add(
                            new Violation(
                                    container.name(),
                                    limited ? "resources.limits" : "resources.requests",
                                    name,
                                    asked.text(),
                                    ONE_PROVIDER,
                                    "only the resources of " + grammars.get(first).name()));
                }
            }
        }
        return violations;
    }
}
