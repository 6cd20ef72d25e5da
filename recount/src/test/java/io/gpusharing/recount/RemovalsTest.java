package io.gpusharing.recount;

import static io.gpusharing.recount.Audited.HALF;
import static io.gpusharing.recount.Audited.NODE;
import static io.gpusharing.recount.Audited.UID;
import static io.gpusharing.recount.Audited.log;
import static io.gpusharing.recount.Audited.object;
import static io.gpusharing.recount.Audited.running;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Half a GPU from ten o'clock on, of a pod that goes without a last state of its own. */
class RemovalsTest {

    private static final Instant TEN = Instant.parse("2026-03-01T10:00:00Z");

    private static final String STATUS = "{\"kind\": \"Status\", \"status\": \"Success\"}";
    private static final String LISTED = "{\"items\": [" + object(1, "", HALF, "") + "]}";

    private static Bill bill(String... removals) {
        var lines = new ArrayList<>(List.of(NODE, running(HALF)));
        lines.addAll(List.of(removals));
        return Recount.of(log(lines.toArray(String[]::new)), false).values().iterator().next();
    }

    private static String evicted(String asked, String answered, int grace, String options) {
        return removed(
                asked,
                answered,
                """
                "verb": "create", "requestURI": "/",
                "objectRef": {"resource": "pods", "subresource": "eviction", "namespace": "team-a", "name": "p"},
                "requestObject": {"kind": "Eviction", "deleteOptions": {"gracePeriodSeconds": %d%s}},
                "responseStatus": {"code": 201}, "responseObject": %s\
                """
                        .formatted(grace, options, STATUS));
    }

    /**
     * @param request the options as the log has them
     * @param answer empty where the log does not have it
     */
    private static String allDeleted(String address, String request, int code, String answer) {
        return removed(
                "10:00:05.100000",
                "10:00:07.200000",
                """
                "verb": "deletecollection", "requestURI": "/api/v1/namespaces/team-a/pods%s",
                "objectRef": {"resource": "pods", "namespace": "team-a"}, %s
                "responseStatus": {"code": %d}%s\
                """
                        .formatted(
                                address,
                                request,
                                code,
                                answer.isEmpty() ? "" : ", \"responseObject\": " + answer));
    }

    private static String removed(String asked, String answered, String rest) {
        return """
        {"stage": "ResponseComplete", "requestReceivedTimestamp": "2026-03-01T%sZ",
         "stageTimestamp": "2026-03-01T%sZ", %s}\
        """
                .formatted(asked, answered, rest);
    }

    private static boolean agrees(int heldUntil, String... removals) {
        return agrees(TEN.plusSeconds(heldUntil), heldUntil, removals);
    }

    private static boolean agrees(@Nullable Instant end, int seconds, String... removals) {
        var lines = new ArrayList<>(List.of(NODE, running(HALF)));
        lines.addAll(List.of(removals));
        lines.add(Audited.alive("10:00:30"));
        var charged =
                new Charged(
                        "team-a",
                        "p",
                        seconds * 500_000L,
                        List.of(),
                        1_000_000,
                        false,
                        end,
                        false,
                        null,
                        List.of());
        return Comparison.of(
                                Map.of(UID, charged),
                                log(lines.toArray(String[]::new)),
                                false,
                                TEN,
                                TEN.plusSeconds(30))
                        .equal()
                == 1;
    }

    /** The answer to an eviction shows no pod, and nothing follows it. */
    @Test
    void aPodThatIsEvictedWithoutGraceIsBilledUntilThat() {
        String evicted = evicted("10:00:05.100000", "10:00:05.200000", 0, "");

        assertThat(bill(evicted).to()).isEqualTo(TEN.plusSeconds(5));
        assertThat(agrees(5, evicted)).isTrue();
        assertThat(agrees(4, evicted)).isFalse();
    }

    @Test
    void anEvictionThatIsNoRemovalIsNoEnd() {
        assertThat(bill(evicted("10:00:05", "10:00:05", 30, "")).to()).as("it has grace").isNull();
        assertThat(bill(evicted("10:00:05", "10:00:05", 0, ", \"dryRun\": [\"All\"]")).to())
                .as("it was a trial")
                .isNull();
    }

    @Test
    void ofADeletionWithABodyTheAddressSaysNothing() {
        String body = "\"requestObject\": {\"kind\": \"DeleteOptions\"%s},";

        assertThat(
                        bill(allDeleted(
                                        "?dryRun=All",
                                        body.formatted(", \"gracePeriodSeconds\": 0"),
                                        200,
                                        LISTED))
                                .to())
                .isEqualTo(TEN.plusSeconds(7));
        assertThat(bill(allDeleted("?gracePeriodSeconds=0", body.formatted(""), 200, LISTED)).to())
                .isNull();
    }

    /** Whoever asks writes the address, and the API server decodes it. */
    @Test
    void aTrialIsOneHoweverItIsWrittenAndNothingElseIs() {
        for (String trial : List.of("dryRun=All", "dry%52un=All", "dryRun=%41ll")) {
            assertThat(bill(allDeleted("?gracePeriodSeconds=0&" + trial, "", 200, LISTED)).to())
                    .as(trial)
                    .isNull();
        }
        for (String real :
                List.of(
                        "?gracePeriodSeconds=0&fieldManager=dryRun=All",
                        "?grace%50eriodSeconds=0")) {
            assertThat(bill(allDeleted(real, "", 200, LISTED)).to())
                    .as(real)
                    .isEqualTo(TEN.plusSeconds(7));
        }
    }

    @Test
    void anyOfTheSecondsOfAnEvictionIsRightAndNoOther() {
        String evicted = evicted("10:00:05.900000", "10:00:06.100000", 0, "");

        assertThat(agrees(5, evicted)).isTrue();
        assertThat(agrees(6, evicted)).isTrue();
        assertThat(agrees(4, evicted)).isFalse();
        assertThat(agrees(7, evicted)).isFalse();
        assertThat(agrees(TEN.plusSeconds(5), 4, evicted)).as("by a wrong amount").isFalse();
    }

    @Test
    void aPodOfACollectionThatIsDeletedWithoutGraceEndsWhileThatIsAnswered() {
        for (String deleted :
                List.of(
                        allDeleted("?gracePeriodSeconds=0&limit=5", "", 200, LISTED),
                        allDeleted(
                                "",
                                "\"requestObject\": {\"gracePeriodSeconds\": 0},",
                                200,
                                LISTED))) {
            assertThat(bill(deleted).to()).isEqualTo(TEN.plusSeconds(7));
            assertThat(agrees(5, deleted)).isTrue();
            assertThat(agrees(7, deleted)).isTrue();
            assertThat(agrees(8, deleted)).isFalse();
            assertThat(agrees(null, 30, deleted)).as("it still runs").isFalse();
        }
    }

    @Test
    void aPodOfACollectionThatIsDeletedWithGraceRunsUntilItsKubeletHasEndedIt() {
        String deleted = allDeleted("", "", 200, LISTED);

        assertThat(bill(deleted).to()).isNull();
        assertThat(agrees(6, deleted)).isFalse();
        assertThat(agrees(null, 30, deleted)).isTrue();
    }

    /** At level Metadata the log has neither the options nor the pods. */
    @Test
    void whereTheLogDoesNotShowWhatWasDeletedAPodMayHaveEndedByThatOrNot() {
        String unseen = allDeleted("", "", 200, "");
        String one =
                removed(
                        "10:00:05",
                        "10:00:07",
                        """
                        "verb": "delete", "requestURI": "/",
                        "objectRef": {"resource": "pods", "namespace": "team-a", "name": "p"},
                        "responseStatus": {"code": 200}\
                        """);

        for (String deleted : List.of(unseen, one, allDeleted("", "", 504, STATUS))) {
            assertThat(agrees(6, deleted)).isTrue();
            assertThat(agrees(null, 30, deleted)).isTrue();
            assertThat(agrees(8, deleted)).isFalse();
        }
        assertThat(agrees(6, allDeleted("?dryRun=All", "", 200, ""))).isFalse();
        assertThat(agrees(6, allDeleted("", "", 403, STATUS))).isFalse();
        assertThat(agrees(6, unseen.replace("team-a", "team-b"))).isFalse();
    }
}
