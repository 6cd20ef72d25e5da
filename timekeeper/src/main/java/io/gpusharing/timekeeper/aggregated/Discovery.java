package io.gpusharing.timekeeper.aggregated;

import io.gpusharing.timekeeper.web.UsageApi;
import io.swagger.v3.oas.annotations.Hidden;
import org.springframework.core.io.ClassPathResource;
import org.springframework.core.io.Resource;
import org.springframework.http.HttpHeaders;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RestController;

/**
 * What there is to ask, as API servers and kubectl look for it: files, which are sent as they are.
 */
@Hidden
@RestController
class Discovery {

    static final String GROUP = "usage.gpusharing.io";
    static final String VERSION = "v1alpha1";
    static final String API_VERSION = GROUP + "/" + VERSION;
    static final String PATH = UsageApi.PATH;

    /** Names of the formats in which everything is said at once. */
    private static final MediaType AGGREGATED =
            MediaType.parseMediaType(
                    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");

    /** Whether an address is one of this API. */
    static boolean isOurs(String path) {
        return path.startsWith("/apis") || path.startsWith("/openapi");
    }

    /** All groups; with their resources for who knows that format. */
    @GetMapping("/apis")
    ResponseEntity<Resource> groups(
            @RequestHeader(name = HttpHeaders.ACCEPT, defaultValue = "") String accept) {
        return accept.contains("as=APIGroupDiscoveryList") && accept.contains("v=v2;")
                ? file(AGGREGATED, "usage-discovery/aggregated.json")
                : json("usage-discovery/groups.json");
    }

    /** Our group. */
    @GetMapping("/apis/" + GROUP)
    ResponseEntity<Resource> group() {
        return json("usage-discovery/group.json");
    }

    /** Its resources. The aggregator asks this every few seconds, to see whether we are there. */
    @GetMapping(PATH)
    ResponseEntity<Resource> resources() {
        return json("usage-discovery/resources.json");
    }

    /** Where they are described. */
    @GetMapping("/openapi/v3")
    ResponseEntity<Resource> descriptions() {
        return json("usage-discovery/descriptions.json");
    }

    /** Their description (OpenAPI 3), by which {@code kubectl explain} goes. */
    @GetMapping("/openapi/v3" + PATH)
    ResponseEntity<Resource> description() {
        return json("usage-openapi.json");
    }

    private static ResponseEntity<Resource> json(String name) {
        return file(MediaType.APPLICATION_JSON, name);
    }

    private static ResponseEntity<Resource> file(MediaType type, String name) {
        return ResponseEntity.ok().contentType(type).body(new ClassPathResource(name));
    }
}
