package io.gpusharing.recount;

import static io.gpusharing.recount.Audited.naming;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.recount.Payers.Answer;
import io.gpusharing.recount.Payers.Paid;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Which budget had team-a on the first of March, as the API server answered. */
class PayersTest {

    private static Instant at(String time) {
        return Instant.parse("2026-03-01T" + time + "Z");
    }

    private static Paid paid(String budget, String from, String to) {
        return new Paid(budget, at(from), at(to));
    }

    private static String deleted(String at, String name) {
        return deleted(at, name, name + "-2026-03-01T09:00:00Z");
    }

    private static String deleted(String at, String name, String uid) {
        return """
        {"stage": "ResponseComplete", "stageTimestamp": "2026-03-01T%1$sZ", "requestURI": "/", "verb": "delete",
         "objectRef": {"resource": "gpubudgets", "name": "%2$s"}, "responseStatus": {"code": 200},
         "responseObject": {"kind": "Status", "status": "Success",
          "details": {"name": "%2$s", "group": "gpusharing.io", "kind": "gpubudgets", "uid": "%3$s"}}}\
        """
                .formatted(at, name, uid);
    }

    private static Answer judge(List<String> lines, Paid... spans) {
        return Audited.log(lines.toArray(String[]::new)).payers().judge("team-a", List.of(spans));
    }

    @Test
    void aNamespaceIsPaidForByTheBudgetThatNamesIt() {
        List<String> log =
                List.of(
                        naming("09:00:00", "a", "09:00:00", 1, "team-a", "team-x"),
                        naming("09:00:00", "b", "09:00:00", 1, "team-b"));

        assertThat(judge(log, paid("a", "10:00:00", "11:00:00"))).isEqualTo(new Answer.Right());
        assertThat(judge(log, paid("b", "10:00:00", "11:00:00")))
                .isEqualTo(new Answer.Wrong(paid("b", "10:00:00", "11:00:00")));
        assertThat(judge(log, paid("", "10:00:00", "11:00:00")))
                .isInstanceOf(Answer.Otherwhen.class);
    }

    @Test
    void theOlderOfTwoBudgetsPaysAndOfOneSecondTheFirstByName() {
        List<String> log =
                List.of(
                        naming("09:00:00", "young", "09:00:00", 1, "team-a"),
                        naming("09:00:01", "old", "08:00:00", 1, "team-a"),
                        naming("09:00:02", "as-old", "08:00:00", 1, "team-a"));

        assertThat(judge(log, paid("as-old", "10:00:00", "11:00:00")))
                .isEqualTo(new Answer.Right());
        assertThat(judge(log, paid("old", "10:00:00", "11:00:00")))
                .isInstanceOf(Answer.Wrong.class);
        assertThat(judge(log, paid("young", "10:00:00", "11:00:00")))
                .isInstanceOf(Answer.Wrong.class);
    }

    @Test
    void aNamespaceThatMovesIsPaidForByEachInItsTimeAndByEitherWithinAMinute() {
        List<String> log =
                List.of(
                        naming("09:00:00", "a", "09:00:00", 1, "team-a"),
                        naming("09:00:00", "b", "09:00:00", 1, "team-b"),
                        naming("10:30:00", "a", "09:00:00", 2),
                        naming("10:30:00", "b", "09:00:00", 2, "team-b", "team-a"));

        assertThat(judge(log, paid("a", "10:00:00", "10:30:04"), paid("b", "10:30:04", "11:00:00")))
                .isEqualTo(new Answer.Right());
        assertThat(judge(log, paid("a", "10:00:00", "10:40:00")))
                .isEqualTo(new Answer.Otherwhen(paid("a", "10:00:00", "10:40:00")));
        assertThat(judge(log, paid("b", "10:00:00", "11:00:00")))
                .isEqualTo(new Answer.Otherwhen(paid("b", "10:00:00", "11:00:00")));
    }

    @Test
    void aBudgetThatIsDeletedPaysNoLonger() {
        List<String> log =
                List.of(
                        naming("09:00:00", "a", "09:00:00", 1, "team-a"),
                        deleted("10:30:00", "a"),
                        // An answer that was logged late.
                        naming("10:30:01", "a", "09:00:00", 1, "team-a"));

        assertThat(judge(log, paid("a", "10:00:00", "10:30:00"), paid("", "10:30:00", "11:00:00")))
                .isEqualTo(new Answer.Right());
        assertThat(judge(log, paid("a", "10:00:00", "11:00:00")))
                .isInstanceOf(Answer.Otherwhen.class);
    }

    /** Its creation has whole seconds, and its predecessor's deletion has not. */
    @Test
    void aBudgetThatIsRecreatedWithinASecondKeepsPaying() {
        List<String> log =
                List.of(
                        naming("09:00:00", "a", "09:00:00", 1, "team-a"),
                        deleted("10:30:00.400000", "a", "a-2026-03-01T09:00:00Z"),
                        naming("10:30:00.600000", "a", "10:30:00", 1, "team-a"));

        assertThat(judge(log, paid("a", "10:00:00", "11:00:00"))).isEqualTo(new Answer.Right());
        assertThat(judge(log, paid("", "10:30:00", "11:00:00"))).isNotEqualTo(new Answer.Right());
    }

    @Test
    void theDeletionOfItsPredecessorMayBeLoggedAfterTheNewOne() {
        List<String> log =
                List.of(
                        naming("09:00:00", "a", "09:00:00", 1, "team-a"),
                        naming("10:30:00.600000", "a", "10:30:00", 1, "team-a"),
                        deleted("10:30:00.700000", "a", "a-2026-03-01T09:00:00Z"));

        assertThat(judge(log, paid("a", "10:00:00", "11:00:00"))).isEqualTo(new Answer.Right());
    }

    @Test
    void namespacesOfABudgetBeforeTheLogAreNotGuessed() {
        List<String> log = List.of(naming("10:30:00", "a", "08:00:00", 7, "team-a"));

        assertThat(judge(log, paid("a", "10:00:00", "11:00:00"))).isEqualTo(new Answer.Unknown());
        assertThat(judge(log, paid("a", "10:30:00", "11:00:00"))).isEqualTo(new Answer.Right());
        assertThat(judge(List.of(Audited.alive("10:00:00")), paid("z", "10:00:00", "11:00:00")))
                .isEqualTo(new Answer.Unknown());
    }
}
