package io.gpusharing.cli.explain;

import static java.util.Objects.requireNonNullElse;

import io.gpusharing.budget.PublishedBudget;
import io.gpusharing.budget.Quote;
import io.gpusharing.budget.Quote.Payer;
import io.gpusharing.budget.Quote.Rate;
import io.gpusharing.budget.RateRule;
import io.gpusharing.budget.ShareRule.Reference;
import io.gpusharing.cli.budget.PayingBudget;
import io.gpusharing.cli.cluster.Cluster;
import io.gpusharing.cli.cluster.ClusterOptions;
import io.gpusharing.cli.cluster.NamespaceOption;
import io.gpusharing.cli.cluster.NotAllowed;
import io.gpusharing.cli.cluster.NotAnswered;
import io.gpusharing.cli.cluster.NotInstalled;
import io.gpusharing.cli.cluster.UsageQuestion;
import io.gpusharing.cli.console.Console;
import io.gpusharing.cli.console.Failure;
import io.gpusharing.cli.console.Format;
import io.gpusharing.cli.console.OutputOptions;
import io.gpusharing.cli.console.Table;
import io.gpusharing.kubernetes.Replicas;
import io.gpusharing.request.BoundShare;
import io.gpusharing.request.NodeFact;
import io.gpusharing.request.NodeFacts;
import io.gpusharing.request.PodRequest;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import tools.jackson.databind.json.JsonMapper;

/** What the pods of a manifest would cost, and whether the budget lasts. */
@Command(
        name = "quote",
        mixinStandardHelpOptions = true,
        description = {
            "What the pods of a manifest would cost, whether the budget lasts for them, and what happens to them when it is used up.",
            "Nothing is created. -o wide has the prices of each GPU model."
        })
public final class QuoteCommand implements Runnable {

    private static final List<String> HEADINGS =
            List.of("MODEL", "PODS", "AT-ONCE", "GPUS", "MINUTES/HOUR");

    private static final JsonMapper JSON = new JsonMapper();

    @Mixin private final ClusterOptions options = new ClusterOptions();
    @Mixin private final NamespaceOption namespace = new NamespaceOption();
    @Mixin private final OutputOptions output = new OutputOptions();

    @Option(
            names = {"-f", "--filename"},
            paramLabel = "FILE",
            required = true,
            description =
                    "Manifests of pods, or of workloads with a pod template; - is standard input.")
    private Path manifest = Path.of("-");

    @Option(
            names = "--for",
            paramLabel = "LENGTH",
            description =
                    "How long each pod runs, for instance 90m, 3h or 2d12h; without it as long as its activeDeadlineSeconds, if it has any.")
    private @Nullable String each;

    private final Console console;
    private final Clock clock;

    public QuoteCommand(Console console, Clock clock) {
        this.console = console;
        this.clock = clock;
    }

    @Override
    public void run() {
        Duration length = each == null ? null : length(each);
        ManifestPods pods = ManifestPods.read(manifest, console);
        var quotes = new ArrayList<Quote>();
        try (Cluster cluster = options.connect()) {
            pods.judge(
                    cluster,
                    namespace,
                    console,
                    pod -> {
                        Quote quote = quote(cluster, pod, length);
                        if (!output.format().isForPeople()) {
                            quotes.add(quote);
                            return;
                        }
                        if (pods.areSeveral()) {
                            console.say(pod.template().title());
                        }
                        show(List.of(quote));
                    });
        } finally {
            // Of several in one document.
            if (!quotes.isEmpty()) {
                show(quotes);
            }
        }
        if (pods.areSeveral()) {
            console.note("Each is quoted as if it were the only one.");
        }
    }

    private Quote quote(Cluster cluster, NewPod pod, @Nullable Duration length) {
        Replicas replicas = pod.template().manifest().replicas();
        var spec =
                new HashMap<String, Object>(
                        Map.of(
                                "newPod",
                                pod.asked(),
                                "pods",
                                replicas.pods(),
                                "atOnce",
                                replicas.atOnce()));
        if (replicas.longest() != null) {
            spec.put("activeDeadlineSeconds", replicas.longest().toSeconds());
        }
        if (each != null) {
            spec.put("for", each);
        }
        try {
            return JSON.treeToValue(
                    UsageQuestion.answer(cluster, pod.namespace(), "quotes", "Quote", spec),
                    Quote.class);
        } catch (NotAnswered | NotInstalled | NotAllowed e) {
            Quote quote = ofWhatIsPublished(cluster, pod, replicas, length);
            console.note("Computed from the budget's status alone. %s".formatted(e.getMessage()));
            return quote;
        }
    }

    private static Duration length(String text) {
        try {
            return Quote.length(text);
        } catch (IllegalArgumentException e) {
            throw new Failure("--for: " + e.getMessage());
        }
    }

    /** What spec and status of the budget say, on GPUs of which nothing is known. */
    private Quote ofWhatIsPublished(
            Cluster cluster, NewPod pod, Replicas replicas, @Nullable Duration each) {
        PodRequest request = pod.request();
        var notKnown = new ArrayList<String>();
        Optional<PublishedBudget> budget = paying(cluster, pod.namespace(), notKnown);
        RateRule rule =
                budget.map(it -> RateRule.of(it.spec().share(), null)).orElse(RateRule.DEFAULT);
        try {
            Optional<BoundShare> share =
                    NewPod.GRAMMARS
                            .grammarOf(request)
                            .map(it -> it.shareOn(request, NodeFacts.UNKNOWN));
            share.ifPresent(it -> noteWhatIsNotKnown(it, budget, notKnown));
            if (pod.hasClaims()) {
                notKnown.add("what it gets by resource claims is not in the price");
            }
            List<Rate> rates =
                    share.map(it -> rule.on(NodeFacts.UNKNOWN).rate(it.share())).stream()
                            .map(rate -> new Rate(null, rate))
                            .toList();
            return Quote.of(
                    replicas.work(each),
                    rates,
                    budget.map(QuoteCommand::payer).orElse(null),
                    clock.instant().truncatedTo(ChronoUnit.SECONDS),
                    notKnown);
        } catch (ArithmeticException | IllegalArgumentException e) {
            throw new Failure(String.valueOf(e.getMessage()));
        }
    }

    private static Payer payer(PublishedBudget budget) {
        return new Payer(budget.name(), budget.spec(), budget.line());
    }

    private static Optional<PublishedBudget> paying(
            Cluster cluster, String namespace, List<String> notKnown) {
        try {
            return PayingBudget.of(cluster, namespace);
        } catch (NotAllowed | NotInstalled e) {
            notKnown.add("its budget is not known: " + e.getMessage());
            return Optional.empty();
        }
    }

    private static void noteWhatIsNotKnown(
            BoundShare share, Optional<PublishedBudget> budget, List<String> notKnown) {
        share.missing().stream().map(NodeFact::reason).sorted().forEach(notKnown::add);
        notKnown.add("some GPU models may have a weight, which only the timekeeper knows");
        if (budget.filter(it -> it.spec().share().reference() == Reference.FromQuota).isPresent()) {
            notKnown.add("its budget charges by the namespace's quota, and here by a whole GPU");
        }
    }

    private void show(List<Quote> quotes) {
        boolean isForPeople = output.format().isForPeople();
        if (isForPeople) {
            quotes.forEach(it -> console.say(it.summary()));
        }
        if (output.format() != Format.TABLE) {
            output.print(console, table(quotes), quotes.size() == 1 ? quotes.getFirst() : quotes);
        }
        if (isForPeople) {
            quotes.stream()
                    .flatMap(it -> it.notKnown().stream())
                    .forEach(it -> console.note("The price may differ: " + it));
        }
    }

    private static Table table(List<Quote> quotes) {
        return new Table(
                HEADINGS,
                quotes.stream()
                        .flatMap(quote ->
                                quote.prices().stream()
                                        .map(price ->
                                                List.of(
                                                        requireNonNullElse(price.model(), ""),
                                                        String.valueOf(quote.pods()),
                                                        String.valueOf(quote.podsAtOnce()),
                                                        price.gpus(),
                                                        price.minutesPerHour())))
                        .toList(),
                Set.of());
    }
}
