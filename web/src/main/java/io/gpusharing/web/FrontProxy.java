package io.gpusharing.web;

import io.fabric8.kubernetes.client.utils.Serialization;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The API server as it passes on what somebody asked an aggregated API: it shows a client
 * certificate of its own, and says in headers who that was. Whoever else sends such headers could
 * say that they are anybody, so nothing is read of them before the certificate.
 *
 * <p>The rules are those of {@code k8s.io/apiserver}, package {@code headerrequest}.
 *
 * @param certificates whose certificates count
 * @param names common names that may pass on; all if it is empty
 * @param user headers of which the first that is there has the user's name
 * @param uid the same for the user's UID
 * @param groups headers each value of which is a group
 * @param extra how headers begin that say something else of the user
 */
public record FrontProxy(
        ClientCertificates certificates,
        Set<String> names,
        List<String> user,
        List<String> uid,
        List<String> groups,
        List<String> extra) {

    /** Nobody passes on anything. */
    public static final FrontProxy NONE =
            new FrontProxy(
                    new ClientCertificates(List.of()),
                    Set.of(),
                    List.of(),
                    List.of(),
                    List.of(),
                    List.of());

    /**
     * Reads what an API server publishes of itself, in ConfigMap {@code
     * kube-system/extension-apiserver-authentication}.
     *
     * @return {@link #NONE} if it passes on nothing
     * @throws RuntimeException if that is not to be understood
     */
    public static FrontProxy published(Map<String, String> data) {
        String authorities = data.get("requestheader-client-ca-file");
        return authorities == null
                ? NONE
                : new FrontProxy(
                        new ClientCertificates(Pem.certificates(authorities)),
                        Set.copyOf(list(data, "requestheader-allowed-names")),
                        list(data, "requestheader-username-headers"),
                        list(data, "requestheader-uid-headers"),
                        list(data, "requestheader-group-headers"),
                        list(data, "requestheader-extra-headers-prefix"));
    }

    private static List<String> list(Map<String, String> data, String key) {
        String json = data.get(key);
        return json == null ? List.of() : List.of(Serialization.unmarshal(json, String[].class));
    }

    /** The headers of a request: whatever case their names are in, they are the same. */
    public interface Headers {

        /** All names. */
        Collection<String> names();

        /** All values of one, none if it is not there. */
        List<String> values(String name);
    }

    /**
     * Who has asked.
     *
     * @param shown certificates of who has sent the request, its own first
     * @return empty if that is not the API server, or it names nobody
     */
    public Optional<Caller> caller(List<X509Certificate> shown, Headers headers, Instant now) {
        return certificates
                .caller(shown, now)
                .filter(proxy -> names.isEmpty() || names.contains(proxy.name()))
                .flatMap(proxy -> first(user, headers))
                .map(name ->
                        new Caller(
                                name,
                                first(uid, headers).orElse(""),
                                groups.stream()
                                        .flatMap(header -> headers.values(header).stream())
                                        .toList(),
                                extra(headers)));
    }

    private static Optional<String> first(List<String> names, Headers headers) {
        return names.stream()
                .flatMap(name -> headers.values(name).stream())
                .filter(value -> !value.isEmpty())
                .findFirst();
    }

    private Map<String, List<String>> extra(Headers headers) {
        var found = new LinkedHashMap<String, List<String>>();
        for (String prefix : extra) {
            for (String name : headers.names()) {
                if (name.regionMatches(true, 0, prefix, 0, prefix.length())) {
                    found.computeIfAbsent(
                                    key(name.substring(prefix.length())), key -> new ArrayList<>())
                            .addAll(headers.values(name));
                }
            }
        }
        return found;
    }

    /** In lower case, and what no header's name may have is percent-encoded. */
    private static String key(String written) {
        String lower = written.toLowerCase(Locale.ROOT);
        try {
            // In addresses of forms a plus sign is a blank; here it is a plus sign.
            return URLDecoder.decode(lower.replace("+", "%2b"), StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            return lower;
        }
    }
}
