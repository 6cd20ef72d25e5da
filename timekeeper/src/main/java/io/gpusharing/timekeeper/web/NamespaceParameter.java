package io.gpusharing.timekeeper.web;

import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.web.server.ResponseStatusException;

/** The parameter {@code namespace}: a label of RFC 1123, as Kubernetes names namespaces. */
public final class NamespaceParameter {

    private static final Pattern DNS_LABEL = Pattern.compile("[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?");

    private NamespaceParameter() {}

    /**
     * The name that was given, null if none was.
     *
     * @throws ResponseStatusException 400 if no namespace can have it
     */
    public static @Nullable String checked(@Nullable String namespace) {
        if (namespace != null && !DNS_LABEL.matcher(namespace).matches()) {
            throw new ResponseStatusException(
                    HttpStatus.BAD_REQUEST, "namespace is no name of a namespace");
        }
        return namespace;
    }
}
