package io.gpusharing.recount;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.net.URLDecoder;
import java.util.Arrays;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;

/**
 * The parameters of a request as the API server read them. Whoever asks writes the address, also
 * {@code dry%52un} for {@code dryRun}, and {@code dryRun=} within a value that is something else.
 */
record Query(String text) {

    static Query of(JsonNode event) {
        // Of a deletion with a body the API server reads nothing else.
        if (event.path("verb").asString("").startsWith("delete")
                && event.path("requestObject").isObject()) {
            return new Query("");
        }
        String address = event.path("requestURI").asString("");
        return new Query(address.substring(address.indexOf('?') + 1));
    }

    /** The values of a parameter, in their order. */
    Stream<String> values(String name) {
        return Arrays.stream(text.split("&", -1))
                .map(pair -> pair.split("=", 2))
                .filter(pair -> pair.length == 2 && decoded(pair[0]).equals(name))
                .map(pair -> decoded(pair[1]));
    }

    /** As it stands where it is no code; no parameter that counts here is named so. */
    private static String decoded(String text) {
        try {
            return URLDecoder.decode(text, UTF_8);
        } catch (IllegalArgumentException e) {
            return text;
        }
    }
}
