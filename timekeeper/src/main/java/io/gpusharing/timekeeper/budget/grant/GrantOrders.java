package io.gpusharing.timekeeper.budget.grant;

import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.ApiTime;
import io.gpusharing.Names;
import io.gpusharing.kubernetes.GpuGrant;
import io.gpusharing.timekeeper.budget.store.GrantRepository;
import io.gpusharing.timekeeper.web.RequestDigest;
import java.time.Clock;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.Objects;
import org.springframework.stereotype.Component;

/**
 * Makes {@code GpuGrant} objects for people. The API server is asked with the person's own token,
 * so that its RBAC decides, its audit log names the person, and admission stamps the right author;
 * the timekeeper itself has no right to grant anything.
 *
 * <p>The object's name follows from author, budget and key: whoever sends an order again finds the
 * object that the first one made. No table of ours has to agree with the cluster.
 */
@Component
public class GrantOrders {

    static final String KEY = Names.PREFIX + "idempotency-key";

    private final KubernetesClient client;
    private final GrantRepository grants;
    private final Clock clock;

    GrantOrders(KubernetesClient client, GrantRepository grants, Clock clock) {
        this.client = client;
        this.grants = grants;
        this.clock = clock;
    }

    /** What became of an order. */
    public sealed interface Outcome {

        /** The object is there, made by this order or by the same one before. */
        record Granted(String name, String uid, String created, boolean again) implements Outcome {}

        /** The key was used for something else. */
        record KeyReused(String name) implements Outcome {}

        /** The same order was carried out before, and its grant has been deleted since. */
        record Revoked(String name) implements Outcome {}

        /**
         * It would never count, so nothing was made.
         *
         * @param now {@code expiresAt} has to lie after it, by a whole second
         */
        record Expired(Instant now) implements Outcome {}
    }

    /**
     * Carries out an order, once for each key.
     *
     * @param order its instants in RFC 3339, and UTC
     * @param token the person's own
     * @param author the person's name
     * @throws KubernetesClientException as the API server answers, for instance 403
     */
    public Outcome carryOut(GpuGrant.Spec order, String author, String token, String key) {
        String name = name(order.budget(), author, key);
        GpuGrant known = client.resources(GpuGrant.class).withName(name).get();
        if (known != null) {
            return same(known, order);
        }
        if (grants.isKnown(name)) {
            return new Outcome.Revoked(name);
        }
        Instant now = clock.instant();
        if (order.expiresAt() != null && !counts(ApiTime.read(order.expiresAt()), now)) {
            return new Outcome.Expired(now);
        }
        try (KubernetesClient person = as(token)) {
            return granted(person.resource(object(order, name, author, key)).create(), false);
        } catch (KubernetesClientException e) {
            // Somebody was faster with the same order.
            GpuGrant raced =
                    e.getCode() == 409
                            ? client.resources(GpuGrant.class).withName(name).get()
                            : null;
            if (raced == null) {
                throw e;
            }
            return same(raced, order);
        }
    }

    /** It ends with a whole second. */
    private static boolean counts(Instant expiresAt, Instant now) {
        return expiresAt.truncatedTo(ChronoUnit.SECONDS).isAfter(now);
    }

    private static Outcome same(GpuGrant known, GpuGrant.Spec order) {
        return order.equals(known.getSpec())
                ? granted(known, true)
                : new Outcome.KeyReused(known.getMetadata().getName());
    }

    private static Outcome granted(GpuGrant grant, boolean again) {
        var meta = grant.getMetadata();
        return new Outcome.Granted(
                meta.getName(), meta.getUid(), meta.getCreationTimestamp(), again);
    }

    private static GpuGrant object(GpuGrant.Spec order, String name, String author, String key) {
        var grant = new GpuGrant();
        grant.setMetadata(
                new ObjectMetaBuilder()
                        .withName(name)
                        .withAnnotations(Map.of(Names.AUTHOR_ANNOTATION, author, KEY, key))
                        .build());
        grant.setSpec(order);
        return grant;
    }

    /** Names of budgets are names of objects, so what begins with one is one, cut to length. */
    private static String name(String budget, String author, String key) {
        String digest = RequestDigest.of(author, budget, key);
        return budget.substring(0, Math.min(budget.length(), 200)) + "-" + digest.substring(0, 16);
    }

    /** A client that knows where the cluster is, and has none of our rights. */
    private KubernetesClient as(String token) {
        Config ours = client.getConfiguration();
        ConfigBuilder theirs =
                new ConfigBuilder(Config.empty())
                        .withMasterUrl(client.getMasterUrl().toString())
                        .withTrustCerts(ours.isTrustCerts())
                        .withOauthTokenProvider(() -> token)
                        .withRequestTimeout(5_000)
                        .withConnectionTimeout(2_000)
                        .withRequestRetryBackoffLimit(0);
        if (Objects.nonNull(ours.getCaCertData())) {
            theirs.withCaCertData(ours.getCaCertData());
        } else if (Objects.nonNull(ours.getCaCertFile())) {
            theirs.withCaCertFile(ours.getCaCertFile());
        }
        return new KubernetesClientBuilder().withConfig(theirs.build()).build();
    }
}
