package io.gpusharing.webhook.explain;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.gpusharing.budget.GpuTime;
import io.gpusharing.request.GpuShare;
import io.gpusharing.webhook.cluster.PriorityClasses;
import io.gpusharing.webhook.cluster.PublishedBudgets;
import io.gpusharing.webhook.cluster.Surroundings;
import io.gpusharing.webhook.decision.Decision.Refused;
import io.gpusharing.webhook.review.MalformedReviewException;
import io.gpusharing.webhook.review.ReviewReader;
import java.io.PrintStream;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.yaml.snakeyaml.Yaml;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * Says for each manifest what the verdict is, what would be added, and what an hour of it costs.
 * Budgets and priority classes of a cluster are not known here: the namespace counts as unlimited.
 */
final class ExplainCommand {

    private static final JsonMapper MAPPER = JsonMapper.shared();
    private static final String CA = "(certificate of the reporting CA)";

    private final Explainer explainer;
    private final ReviewReader reader;
    private final Clock clock;
    private final PrintStream out;

    ExplainCommand(Explainer explainer, ReviewReader reader, Clock clock, PrintStream out) {
        this.explainer = explainer;
        this.reader = reader;
        this.clock = clock;
        this.out = out;
    }

    /**
     * The documents of a file.
     *
     * @throws org.yaml.snakeyaml.error.MarkedYAMLException if it is not YAML
     */
    static List<Object> manifests(String yaml) {
        var documents = new ArrayList<Object>();
        new Yaml().loadAll(yaml).forEach(documents::add);
        return documents;
    }

    /**
     * Explains every document.
     *
     * @return whether all of them would be accepted
     */
    boolean explain(List<Object> documents) {
        boolean accepted = true;
        for (Object document : documents) {
            if (document instanceof Map<?, ?> manifest) {
                accepted &= explain((ObjectNode) MAPPER.valueToTree(manifest));
            }
        }
        return accepted;
    }

    private boolean explain(ObjectNode manifest) {
        out.printf(
                "%s %s%n",
                manifest.path("kind").asString("(no kind)"),
                manifest.at("/metadata/name").asString("(no name)"));
        List<JsonNode> pods = pods(manifest);
        if (pods.isEmpty()) {
            out.println("  verdict   makes no pods that we know of");
        }
        boolean accepted = true;
        for (JsonNode pod : pods) {
            accepted &= explain(manifest, pod);
        }
        return accepted;
    }

    private boolean explain(ObjectNode manifest, JsonNode pod) {
        Instant now = clock.instant();
        Explanation explanation = explanation(review(manifest, pod), now);
        out.println("  verdict   " + explanation.verdict());
        explanation.warnings().forEach(warning -> out.println("  warning   " + warning));
        if (!explanation.share().equals(GpuShare.NONE)) {
            cost(explanation, now);
        }
        byte[] patch = explanation.patch();
        if (patch != null) {
            out.println(
                    "  changes   in " + (isPod(manifest) ? "this pod" : "each of its pods") + ":");
            MAPPER.readTree(patch).forEach(this::change);
        }
        return explanation.accepted();
    }

    private Explanation explanation(byte[] review, Instant now) {
        try {
            return explainer.explain(
                    reader.read(review),
                    new Surroundings(
                            PublishedBudgets.NONE, PriorityClasses.NONE, List.of(), CA, now));
        } catch (MalformedReviewException e) {
            return Explainer.refused(Refused.unreadable(String.valueOf(e.getMessage())));
        }
    }

    /** In one line; of what is long, a sidecar above all, only where it goes. */
    private void change(JsonNode operation) {
        JsonNode value = operation.path("value");
        String path = operation.path("path").asString("").replace("~1", "/").replace("~0", "~");
        out.println(
                "    "
                        + operation.path("op").asString("")
                        + " "
                        + path
                        + (value.isValueNode() ? " " + value.asString() : named(value)));
    }

    private static String named(JsonNode value) {
        JsonNode first = value.isArray() ? value.path(0) : value;
        String name = first.path("name").asString("");
        return name.isEmpty() ? "" : " (" + name + ")";
    }

    private void cost(Explanation explanation, Instant now) {
        GpuShare share = explanation.share();
        long rate = Math.max(share.compute(), share.memory());
        String estimate =
                explanation.estimated().isEmpty()
                        ? ""
                        : " (estimated; the node says " + explanation.estimated() + ")";
        out.printf(
                "  share     %s GPU of the processors, %s of the memory%s%n",
                GpuShare.inGpus(share.compute()),
                explanation.orMore() && share.memory() == 0
                        ? "an unknown part"
                        : GpuShare.inGpus(share.memory()) + " GPU",
                estimate);
        out.printf(
                "  an hour   costs %s GPU-minutes%s%n",
                GpuTime.accrued(rate, now, now.plus(Duration.ofHours(1))).minutes(),
                explanation.estimated().isEmpty()
                        ? ""
                        : explanation.orMore() ? " or more" : " or less");
    }

    private List<JsonNode> pods(ObjectNode manifest) {
        return isPod(manifest)
                ? List.of(manifest)
                : explainer.podsOf(
                        manifest.path("apiVersion").asString(""),
                        manifest.path("kind").asString(""),
                        manifest);
    }

    private static boolean isPod(ObjectNode manifest) {
        return manifest.path("kind").asString("").equals("Pod");
    }

    private static byte[] review(ObjectNode manifest, JsonNode pod) {
        ObjectNode review = MAPPER.createObjectNode();
        review.put("apiVersion", "admission.k8s.io/v1").put("kind", "AdmissionReview");
        ObjectNode request = review.putObject("request");
        request.put("uid", "explain");
        request.putObject("kind").put("group", "").put("version", "v1").put("kind", "Pod");
        request.put("operation", "CREATE");
        request.put("namespace", manifest.at("/metadata/namespace").asString("default"));
        request.put("dryRun", true);
        request.set("object", pod);
        return review.toString().getBytes(UTF_8);
    }
}
