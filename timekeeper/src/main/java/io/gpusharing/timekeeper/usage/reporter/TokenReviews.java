package io.gpusharing.timekeeper.usage.reporter;

import io.fabric8.kubernetes.api.model.authentication.TokenReview;
import io.fabric8.kubernetes.api.model.authentication.TokenReviewBuilder;
import io.fabric8.kubernetes.api.model.authentication.TokenReviewStatus;
import io.fabric8.kubernetes.api.model.authentication.UserInfo;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpusharing.Names;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The API server's own word on a token. */
public final class TokenReviews {

    private static final String USER = "system:serviceaccount:";
    private static final String EXTRA = "authentication.kubernetes.io/";

    private final KubernetesClient client;

    public TokenReviews(KubernetesClient client) {
        this.client = client;
    }

    /** Who it is, if the token is genuine, of our audience and bound to a pod. */
    public Optional<Reporter> review(String token) {
        TokenReview review =
                client.resource(
                                new TokenReviewBuilder()
                                        .withNewSpec()
                                        .withToken(token)
                                        .withAudiences(Names.REPORT_AUDIENCE)
                                        .endSpec()
                                        .build())
                        .create();
        return reporter(review.getStatus());
    }

    /** Who it is, unless the review says no, or says yes to another audience. */
    static Optional<Reporter> reporter(@Nullable TokenReviewStatus status) {
        if (status == null
                || !Boolean.TRUE.equals(status.getAuthenticated())
                || !status.getAudiences().contains(Names.REPORT_AUDIENCE)) {
            return Optional.empty();
        }
        UserInfo user = status.getUser();
        String[] account =
                user.getUsername()
                        .substring(Math.min(USER.length(), user.getUsername().length()))
                        .split(":", -1);
        String pod = extra(user, "pod-name");
        String uid = extra(user, "pod-uid");
        if (!user.getUsername().startsWith(USER)
                || account.length != 2
                || pod == null
                || uid == null) {
            return Optional.empty();
        }
        return Optional.of(
                new Reporter(
                        account[0] + "/" + account[1],
                        account[0],
                        pod,
                        UUID.fromString(uid),
                        extra(user, "node-name")));
    }

    private static @Nullable String extra(UserInfo user, String key) {
        List<String> values = user.getExtra() == null ? null : user.getExtra().get(EXTRA + key);
        return values == null || values.isEmpty() ? null : values.getFirst();
    }
}
