package io.gpusharing.timekeeper.aggregated;

import io.gpusharing.timekeeper.web.UsageApi;
import io.swagger.v3.oas.annotations.Hidden;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.springframework.core.io.ClassPathResource;
import org.springframework.core.io.Resource;
import org.springframework.http.HttpHeaders;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RestController;

/** What there is to ask, as API servers and kubectl look for it. */
@Hidden
@RestController
class Discovery {

    static final String GROUP = "usage.gpusharing.io";
    static final String VERSION = "v1alpha1";
    static final String API_VERSION = GROUP + "/" + VERSION;
    static final String PATH = UsageApi.PATH;

    private static final String OPENAPI = "/openapi/v3" + PATH;

    private static final Map<String, String> IN_VERSION =
            Map.of("groupVersion", API_VERSION, "version", VERSION);

    /** Names of the formats in which everything is said at once. */
    private static final String AGGREGATED =
            "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

    private static final List<String> READ = List.of("get", "list");
    private static final List<String> CREATE = List.of("create");

    private static final List<Kind> KINDS =
            List.of(
                    new Kind("podusages", "podusage", true, "PodUsage", "pu", READ, Map.of()),
                    new Kind(
                            "podprocesses", "podprocess", true, "PodProcesses", "", READ, Map.of()),
                    new Kind(
                            "budgetusages",
                            "budgetusage",
                            false,
                            "BudgetUsage",
                            "bu",
                            READ,
                            Map.of(
                                    "statement", "BudgetStatement",
                                    "explain", "BudgetExplanation",
                                    "evictions", "EvictionReceipts",
                                    "waste", "WasteReport")),
                    // Answered, and stored nowhere.
                    new Kind(
                            "explanations",
                            "explanation",
                            true,
                            "Explanation",
                            "",
                            CREATE,
                            Map.of()),
                    new Kind("quotes", "quote", true, "Quote", "", CREATE, Map.of()),
                    new Kind(
                            "verifications",
                            "verification",
                            false,
                            "LedgerVerification",
                            "",
                            READ,
                            Map.of()));

    /**
     * One kind of thing.
     *
     * @param name in addresses
     * @param shortName for kubectl; empty if it has none
     * @param verbs what can be done with it
     * @param more what else can be asked of one, with the kind of its answer
     */
    private record Kind(
            String name,
            String singularName,
            boolean namespaced,
            String kind,
            String shortName,
            List<String> verbs,
            Map<String, String> more) {

        Stream<Map<String, Object>> listed() {
            return Stream.concat(
                    Stream.of(itself()),
                    new TreeMap<>(more)
                            .entrySet().stream()
                                    .map(it ->
                                            Map.of(
                                                    "name",
                                                    name + "/" + it.getKey(),
                                                    "singularName",
                                                    "",
                                                    "namespaced",
                                                    namespaced,
                                                    "kind",
                                                    it.getValue(),
                                                    "verbs",
                                                    List.of("get"))));
        }

        private Map<String, Object> itself() {
            return Map.of(
                    "name",
                    name,
                    "singularName",
                    singularName,
                    "namespaced",
                    namespaced,
                    "kind",
                    kind,
                    "verbs",
                    verbs,
                    "shortNames",
                    shortNames());
        }

        Map<String, Object> aggregated() {
            return Map.of(
                    "resource",
                    name,
                    "responseKind",
                    answered(kind),
                    "subresources",
                    new TreeMap<>(more)
                            .entrySet().stream()
                                    .map(it ->
                                            Map.of(
                                                    "subresource",
                                                    it.getKey(),
                                                    "responseKind",
                                                    answered(it.getValue()),
                                                    "verbs",
                                                    List.of("get")))
                                    .toList(),
                    "scope",
                    namespaced ? "Namespaced" : "Cluster",
                    "singularResource",
                    singularName,
                    "verbs",
                    verbs,
                    "shortNames",
                    shortNames());
        }

        private List<String> shortNames() {
            return shortName.isEmpty() ? List.of() : List.of(shortName);
        }

        private static Map<String, String> answered(String kind) {
            return Map.of("group", GROUP, "version", VERSION, "kind", kind);
        }
    }

    /** Whether an address is one of this API. */
    static boolean isOurs(String path) {
        return path.startsWith("/apis") || path.startsWith("/openapi");
    }

    /** All groups; with their resources for who knows that format. */
    @GetMapping("/apis")
    ResponseEntity<Map<String, Object>> groups(
            @RequestHeader(name = HttpHeaders.ACCEPT, defaultValue = "") String accept) {
        return accept.contains("as=APIGroupDiscoveryList") && accept.contains("v=v2;")
                ? ResponseEntity.ok()
                        .contentType(MediaType.parseMediaType(AGGREGATED))
                        .body(everything())
                : answer(
                        Map.of(
                                "kind",
                                "APIGroupList",
                                "apiVersion",
                                "v1",
                                "groups",
                                List.of(described())));
    }

    /** Our group. */
    @GetMapping("/apis/" + GROUP)
    ResponseEntity<Map<String, Object>> group() {
        return answer(described());
    }

    /** Its resources. The aggregator asks this every few seconds, to see whether we are there. */
    @GetMapping(PATH)
    ResponseEntity<Map<String, Object>> resources() {
        return answer(
                Map.of(
                        "kind",
                        "APIResourceList",
                        "apiVersion",
                        "v1",
                        "groupVersion",
                        API_VERSION,
                        "resources",
                        KINDS.stream().flatMap(Kind::listed).toList()));
    }

    /** Where they are described. */
    @GetMapping("/openapi/v3")
    ResponseEntity<Map<String, Object>> descriptions() {
        return answer(
                Map.of("paths", Map.of(PATH.substring(1), Map.of("serverRelativeURL", OPENAPI))));
    }

    /** Their description (OpenAPI 3), by which {@code kubectl explain} goes. */
    @GetMapping(OPENAPI)
    ResponseEntity<Resource> description() {
        return ResponseEntity.ok()
                .contentType(MediaType.APPLICATION_JSON)
                .body(new ClassPathResource("usage-openapi.json"));
    }

    private static Map<String, Object> described() {
        return Map.of(
                "kind",
                "APIGroup",
                "apiVersion",
                "v1",
                "name",
                GROUP,
                "versions",
                List.of(IN_VERSION),
                "preferredVersion",
                IN_VERSION);
    }

    private static Map<String, Object> everything() {
        return Map.of(
                "kind",
                "APIGroupDiscoveryList",
                "apiVersion",
                "apidiscovery.k8s.io/v2",
                "metadata",
                Map.of(),
                "items",
                List.of(
                        Map.of(
                                "metadata",
                                Map.of("name", GROUP),
                                "versions",
                                List.of(
                                        Map.of(
                                                "version",
                                                VERSION,
                                                "freshness",
                                                "Current",
                                                "resources",
                                                KINDS.stream().map(Kind::aggregated).toList())))));
    }

    private static ResponseEntity<Map<String, Object>> answer(Map<String, Object> body) {
        return ResponseEntity.ok().contentType(MediaType.APPLICATION_JSON).body(body);
    }
}
