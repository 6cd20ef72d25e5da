package io.gpusharing.kubernetes;

import static java.net.HttpURLConnection.HTTP_CONFLICT;
import static java.net.HttpURLConnection.HTTP_NOT_FOUND;

import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.Names;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.Collections;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * The Lease {@value #NAME} in our own namespace. By it the timekeeper says up to when its ledger
 * has caught up, so that nobody is evicted by a budget's status that is old. It elects nobody: its
 * holder is the replica that wrote it last.
 */
public final class LedgerLease {

    /** Name of the lease. */
    public static final String NAME = "gpusharing-ledger";

    /** Budgets that a word may name: in JSON they fill what the API server takes of annotations. */
    public static final int MOST_BEHIND = 1_000;

    private static final String BEHIND_ANNOTATION = Names.PREFIX + "behind";

    /** How old a word may be that is acted on. */
    private static final Duration GOOD_FOR = Duration.ofSeconds(90);

    private static final JsonMapper JSON = new JsonMapper();

    private LedgerLease() {}

    /**
     * What the timekeeper says.
     *
     * @param caughtUp all that was known of pods at this instant is in the ledger and in the status
     *     of each budget, but of those that are behind; cut to microseconds
     * @param behind names of budgets whose status may say something else than the ledger, or cannot
     *     be trusted; sorted, at most {@value #MOST_BEHIND}
     */
    public record Word(Instant caughtUp, Set<String> behind) {

        public Word {
            if (behind.size() > MOST_BEHIND) {
                throw new IllegalArgumentException(
                        "%d budgets are behind; a word names %d at most"
                                .formatted(behind.size(), MOST_BEHIND));
            }
            caughtUp = caughtUp.truncatedTo(ChronoUnit.MICROS);
            behind = Collections.unmodifiableSet(new TreeSet<>(behind));
        }
    }

    /**
     * Whether a word may be acted on.
     *
     * @param now by the reader's clock. A word is good for 90 s, and its instant lies ahead of now
     *     by no more than {@link LeaseSettings#SKEW}
     */
    public static boolean isGood(Word word, Instant now) {
        return !word.caughtUp().isBefore(now.minus(GOOD_FOR)) && !isAhead(word.caughtUp(), now);
    }

    private static boolean isAhead(Instant instant, Instant now) {
        return instant.isAfter(now.plus(LeaseSettings.SKEW));
    }

    /**
     * Reads the last word.
     *
     * @return empty if there is none, or if it is incomplete or makes no sense
     * @throws KubernetesClientException if the API server does not answer, or does not let us read
     */
    public static Optional<Word> read(KubernetesClient client, String namespace) {
        Lease lease = find(client, namespace);
        Instant caughtUp = caughtUp(lease);
        return lease == null || caughtUp == null
                ? Optional.empty()
                : behind(lease).map(behind -> new Word(caughtUp, behind));
    }

    /**
     * Replaces the last word by a later one. A leader of an older term that wakes up takes back
     * nothing: its word is not later, or somebody has written since it looked. A word that is ahead
     * of our clock holds up none: the clock by which it was written was wrong.
     *
     * @param identity of this replica
     * @param now by our clock
     * @return whether it was written
     * @throws KubernetesClientException if the API server does not answer, or does not let us write
     */
    public static boolean write(
            KubernetesClient client, String namespace, String identity, Word word, Instant now) {
        Lease before = find(client, namespace);
        Instant last = caughtUp(before);
        if (last != null && !last.isBefore(word.caughtUp()) && !isAhead(last, now)) {
            return false;
        }
        // The resource version goes with it: of two who write at once one is refused.
        Lease after =
                new LeaseBuilder(before == null ? new Lease() : before)
                        .editOrNewMetadata()
                        .withNamespace(namespace)
                        .withName(NAME)
                        // Not all clients of ours read them whole; the API server keeps its own.
                        .withManagedFields()
                        .addToAnnotations(BEHIND_ANNOTATION, JSON.writeValueAsString(word.behind()))
                        .endMetadata()
                        .withNewSpec()
                        .withHolderIdentity(identity)
                        .withRenewTime(word.caughtUp().atZone(ZoneOffset.UTC))
                        .endSpec()
                        .build();
        try {
            if (before == null) {
                client.resource(after).create();
            } else {
                client.resource(after).update();
            }
            return true;
        } catch (KubernetesClientException e) {
            if (e.getCode() == HTTP_CONFLICT || e.getCode() == HTTP_NOT_FOUND) {
                return false;
            }
            throw e;
        }
    }

    private static @Nullable Lease find(KubernetesClient client, String namespace) {
        return client.leases().inNamespace(namespace).withName(NAME).get();
    }

    private static @Nullable Instant caughtUp(@Nullable Lease lease) {
        return lease == null || lease.getSpec() == null || lease.getSpec().getRenewTime() == null
                ? null
                : lease.getSpec().getRenewTime().toInstant();
    }

    private static Optional<Set<String>> behind(Lease lease) {
        Map<String, String> annotations = lease.getMetadata().getAnnotations();
        String text = annotations == null ? null : annotations.get(BEHIND_ANNOTATION);
        try {
            JsonNode list = text == null ? null : JSON.readTree(text);
            if (list == null
                    || !list.isArray()
                    || list.size() > MOST_BEHIND
                    || !list.values().stream().allMatch(JsonNode::isString)) {
                return Optional.empty();
            }
            var names = new TreeSet<String>();
            list.values().forEach(name -> names.add(name.stringValue()));
            return Optional.of(names);
        } catch (JacksonException e) {
            return Optional.empty();
        }
    }
}
