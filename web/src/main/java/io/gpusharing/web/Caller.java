package io.gpusharing.web;

import io.fabric8.kubernetes.api.model.authentication.UserInfo;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * A user as the API server knows them.
 *
 * @param uid empty if they have none
 * @param extra what else their token says, and authorizers go by: that it is for certain things
 *     alone, for instance (OpenShift's {@code scopes.authorization.openshift.io})
 */
public record Caller(
        String name, String uid, List<String> groups, Map<String, List<String>> extra) {

    /** Whom the API server's own review of a token names. */
    public static Caller of(UserInfo user) {
        return new Caller(
                user.getUsername(),
                Objects.requireNonNullElse(user.getUid(), ""),
                List.copyOf(user.getGroups()),
                Map.copyOf(user.getExtra()));
    }
}
