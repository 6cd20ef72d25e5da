package io.gpusharing.cli.ledger;

import static java.util.Objects.requireNonNullElse;

import com.fasterxml.jackson.annotation.JsonProperty;
import io.gpusharing.cli.cluster.Cluster;
import io.gpusharing.cli.cluster.Cluster.Answer;
import io.gpusharing.cli.console.Failure;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JavaType;
import tools.jackson.databind.json.JsonMapper;

/** The ledger: the API server passes questions on to it, and whoever may ask it is asked there. */
final class Ledger {

    private static final String API = "/apis/usage.gpusharing.io/v1alpha1/";
    private static final String BUDGETS = API + "budgetusages/";

    private static final String VIEW =
            "ask for the role view in the namespace, or an administrator for the cluster role gpusharing-usage-admin";

    private static final String ADMIN =
            "ask an administrator for the cluster role gpusharing-usage-admin, or one with this budget's name";

    /** RFC 8288. */
    private static final Pattern NEXT = Pattern.compile("<([^>]+)>\\s*;\\s*rel=\"next\"");

    private static final JsonMapper JSON =
            JsonMapper.builder().disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES).build();

    private final Cluster cluster;

    Ledger(Cluster cluster) {
        this.cluster = cluster;
    }

    /**
     * What it says of a budget, page by page.
     *
     * @param what for instance {@code statement}
     * @param type of a page
     */
    <T> List<T> pages(String budget, String what, Map<String, String> query, Class<T> type) {
        var pages = new ArrayList<T>();
        String path = BUDGETS + encoded(budget) + "/" + what;
        String page = path + parameters(query);
        while (!page.isEmpty()) {
            Answer answer = cluster.get(page, ADMIN);
            pages.add(JSON.readValue(answer.body(), type));
            page = next(answer.link(), path, page);
        }
        return pages;
    }

    /** What it says of a budget all at once, as CSV. */
    String csv(String budget, String what, Map<String, String> query) {
        return cluster.csv(BUDGETS + encoded(budget) + "/" + what + parameters(query), ADMIN);
    }

    /** What the last verification found. */
    record Verified(VerifyCommand.Report status) {}

    /** Whether it is sound. */
    VerifyCommand.Report verification() {
        return JSON.readValue(
                        cluster.get(
                                        API + "verifications/latest",
                                        "ask an administrator for the cluster role gpusharing-usage-admin")
                                .body(),
                        Verified.class)
                .status();
    }

    /**
     * What pods of a namespace hold.
     *
     * @param namespace null for all
     */
    List<PodUsage> podUsages(@Nullable String namespace) {
        return ofPods("podusages", namespace, PodUsage.class, VIEW);
    }

    /**
     * What pods of a namespace run on GPUs.
     *
     * @param namespace null for all
     */
    List<PodProcesses> podProcesses(@Nullable String namespace) {
        return ofPods(
                "podprocesses",
                namespace,
                PodProcesses.class,
                VIEW + ", and to get the pods there, with -A of all namespaces");
    }

    /** Of objects that are listed as Kubernetes lists them. */
    record Page<T>(Continued metadata, List<T> items) {}

    /** By what the next page is asked for. */
    record Continued(@JsonProperty("continue") @Nullable String token) {}

    private <T> List<T> ofPods(
            String resource, @Nullable String namespace, Class<T> type, String right) {
        JavaType pages = JSON.getTypeFactory().constructParametricType(Page.class, type);
        String path =
                API
                        + (namespace == null ? "" : "namespaces/" + encoded(namespace) + "/")
                        + resource;
        var all = new ArrayList<T>();
        String token = "";
        do {
            String page =
                    path + "?limit=500" + (token.isEmpty() ? "" : "&continue=" + encoded(token));
            Page<T> some = JSON.readValue(cluster.get(page, right).body(), pages);
            all.addAll(some.items());
            token = requireNonNullElse(some.metadata().token(), "");
        } while (!token.isEmpty());
        return all;
    }

    /**
     * The address of the next page; empty if there is none. The login goes along with each
     * question, so whoever answers may name no other address than that which was asked.
     */
    private static String next(String link, String path, String present) {
        Matcher next = NEXT.matcher(link);
        if (!next.find()) {
            return "";
        }
        String page = next.group(1);
        if (!page.startsWith(path + "?") || page.equals(present)) {
            throw new Failure(
                    "The ledger names %s as the next page, which is none".formatted(page));
        }
        return page;
    }

    private static String parameters(Map<String, String> query) {
        return query.isEmpty()
                ? ""
                : query.entrySet().stream()
                        .map(it -> it.getKey() + "=" + encoded(it.getValue()))
                        .collect(Collectors.joining("&", "?", ""));
    }

    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }
}
