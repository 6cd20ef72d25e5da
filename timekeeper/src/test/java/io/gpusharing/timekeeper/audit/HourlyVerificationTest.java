package io.gpusharing.timekeeper.audit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.gpusharing.kubernetes.Leadership;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.testing.SteppingClock;
import io.gpusharing.timekeeper.ledger.posting.Verifications;
import io.gpusharing.timekeeper.testing.TestDatabase;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.web.server.ResponseStatusException;
import tools.jackson.databind.json.JsonMapper;

class HourlyVerificationTest {

    private static final Instant TEN = Instant.parse("2026-03-02T10:00:00Z");

    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final TestDatabase database = TestDatabase.create();
    private final SteppingClock clock = new SteppingClock(TEN);
    private final VerificationRepository found =
            new VerificationRepository(database.rows(), JsonMapper.builder().build());
    private final UnreadableObjects unreadable = new UnreadableObjects(object -> {});
    private final VerifyController controller = new VerifyController(found, unreadable, clock);
    private final HourlyVerification task =
            new HourlyVerification(
                    registry,
                    Verifications.on(database, List.of()),
                    found,
                    unreadable,
                    Leadership.alone(),
                    clock);

    private double verifiedAt() {
        return registry.get("gpusharing.ledger.verified.timestamp").gauge().value();
    }

    @BeforeEach
    void start() {
        database.jdbc()
                .sql("insert into cluster (id, metering_start) values ('test', now())")
                .update();
    }

    @Test
    void verifiesFiveMinutesAfterItBeginsToLeadAndThenOnceAnHour() {
        Instant first = TEN.plus(Duration.ofMinutes(5));
        task.takeOver();

        assertThat(task.work(TEN)).isEqualTo(first);
        assertThat(verifiedAt()).isNaN();

        assertThat(task.work(first)).isEqualTo(first.plus(Duration.ofHours(1)));
        assertThat(verifiedAt()).isEqualTo(last().at().toEpochMilli() / 1e3);
        assertThat(differences()).isZero();
    }

    @Test
    void theFirstVerifiesEverythingAndTheNextWhatWasPostedSince() {
        task.work(TEN);
        assertThat(last().from()).isNull();

        task.work(TEN);
        assertThat(last().from())
                .isBetween(
                        last().at().minus(Duration.ofHours(4)),
                        last().at().minus(Duration.ofHours(3)));
    }

    @Test
    void aDifferenceIsFoundAgainUntilItIsMended() {
        task.work(TEN);
        Instant sound = last().at();
        invented("now() - interval '2 days'", "now() - interval '2 days'");
        task.work(TEN);
        assertThat(differences()).isZero();

        invented("now() - interval '1 hour'", "now()");
        task.work(TEN);
        assertThat(differences()).isEqualTo(3);
        task.work(TEN);
        assertThat(differences()).isEqualTo(3);
        assertThat(found.lastSound()).hasValueSatisfying(it -> assertThat(it).isAfter(sound));

        database.jdbc().sql("delete from charge").update();
        task.work(TEN);
        assertThat(differences()).isZero();
    }

    /** A charge that nobody posted: of no pod, in no hour, and of more than its rate. */
    private void invented(String from, String posted) {
        database.jdbc()
                .sql(
                        """
                        insert into charge (cluster, pod_uid, charged_from, charged_to, namespace, budget, rate, amount, posted_at)
                        select 'test', gen_random_uuid(), begin, begin + interval '1 second', 'team-a', 'a', 1, 2, %s
                        from (select date_trunc('hour', %s) as begin) hour
                        """
                                .formatted(posted, from))
                .update();
    }

    @Test
    void theLastResultIsAnsweredAtOnceWithItsAge() {
        assertThatThrownBy(controller::verify)
                .isInstanceOf(ResponseStatusException.class)
                .hasMessageContaining("404")
                .hasMessageContaining("five minutes after a replica begins to lead");

        task.work(TEN);
        clock.set(last().at().plus(Duration.ofMinutes(7)));

        var answer = controller.verify();
        assertThat(answer.getHeaders().getFirst("Age")).isEqualTo("420");
        assertThat(answer.getBody())
                .isEqualTo(
                        new Verification.Report(last().at(), null, null, 0, List.of(), List.of()));
    }

    @Test
    void whatCannotBeReadIsStoredAsTheLeaderSeesItAndAnsweredAsItIsNow() {
        Pod first = unread("team-a", "first");
        unread("team-b", "second");
        task.work(TEN);
        unreadable.forget(first);

        assertThat(last().unreadable())
                .containsExactly(
                        new UnreadableKind(
                                "Pod", 2, List.of("team-a/first: why", "team-b/second: why")));
        assertThat(last().sound()).isTrue();
        assertThat(controller.verify().getBody())
                .extracting(Verification.Report::unreadable)
                .isEqualTo(List.of(new UnreadableKind("Pod", 1, List.of("team-b/second: why"))));
    }

    private Pod unread(String namespace, String name) {
        Pod pod =
                new PodBuilder()
                        .withNewMetadata()
                        .withNamespace(namespace)
                        .withName(name)
                        .endMetadata()
                        .build();
        unreadable.handOver(
                pod,
                it -> {
                    throw new IllegalArgumentException("why");
                });
        return pod;
    }

    private Verification.Report last() {
        return found.read().orElseThrow();
    }

    private double differences() {
        return registry.get("gpusharing.ledger.differences").gauge().value();
    }
}
