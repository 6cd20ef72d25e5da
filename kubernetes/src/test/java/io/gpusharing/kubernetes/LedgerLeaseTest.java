package io.gpusharing.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.kubernetes.LedgerLease.Word;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class LedgerLeaseTest {

    private static final Instant TEN = Instant.parse("2026-03-02T10:00:00Z");
    private static final String NAMESPACE = "gpusharing-system";

    private final FakeLease lease = new FakeLease();

    LedgerLeaseTest() throws IOException {}

    @AfterEach
    void close() {
        lease.close();
    }

    private static Word word(Instant caughtUp, String... behind) {
        return new Word(caughtUp, Set.of(behind));
    }

    /** A replica says it at that very instant. */
    private boolean says(String identity, Word word) {
        return says(identity, word, word.caughtUp());
    }

    private boolean says(String identity, Word word, Instant now) {
        return LedgerLease.write(lease.client(), NAMESPACE, identity, word, now);
    }

    private void isRead(Word word) {
        assertThat(LedgerLease.read(lease.client(), NAMESPACE)).contains(word);
    }

    @Test
    void nothingIsReadBeforeAnythingIsSaid() {
        assertThat(LedgerLease.read(lease.client(), NAMESPACE)).isEmpty();
    }

    @Test
    void whatIsSaidIsReadToTheMicrosecond() {
        assertThat(says("one", word(TEN.plusNanos(123_456_789), "b", "a"))).isTrue();

        isRead(word(TEN.plusNanos(123_456_000), "a", "b"));
        assertThat(lease.holder()).isEqualTo("one");
        assertThat(lease.spec().path("renewTime").asString())
                .isEqualTo("2026-03-02T10:00:00.123456Z");
        lease.change(stored ->
                assertThat(stored.at("/metadata/annotations/gpusharing.io~1behind").asString())
                        .isEqualTo("[\"a\",\"b\"]"));
    }

    @Test
    void aLaterWordReplacesTheOneBefore() {
        says("one", word(TEN, "a"));

        assertThat(says("two", word(TEN.plusSeconds(10)))).isTrue();

        isRead(word(TEN.plusSeconds(10)));
        assertThat(lease.holder()).isEqualTo("two");
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 1, 3600})
    void aWordNeverGoesBackwards(long seconds) {
        says("two", word(TEN, "a"));

        assertThat(says("one", word(TEN.minusSeconds(seconds)), TEN)).isFalse();

        isRead(word(TEN, "a"));
    }

    /** It was stopped between its look and its write, and another replica leads. */
    @Test
    void aLeaderThatWakesUpDoesNotReplaceWhatWasSaidMeanwhile() {
        says("one", word(TEN));
        lease.beforeTheNextWrite(() -> says("two", word(TEN.plusSeconds(60), "a")));

        assertThat(says("one", word(TEN.plusSeconds(10)))).isFalse();

        isRead(word(TEN.plusSeconds(60), "a"));
    }

    @Test
    void ofTwoThatSayTheFirstWordOneIsRefused() {
        lease.beforeTheNextWrite(() -> says("two", word(TEN.plusSeconds(1))));

        assertThat(says("one", word(TEN))).isFalse();

        isRead(word(TEN.plusSeconds(1)));
    }

    @Test
    void aLeaseThatIsDeletedBetweenLookAndWriteIsMadeByTheNextWord() {
        says("one", word(TEN));
        lease.beforeTheNextWrite(lease::delete);
        assertThat(says("one", word(TEN.plusSeconds(10)))).isFalse();

        assertThat(says("one", word(TEN.plusSeconds(20)))).isTrue();

        isRead(word(TEN.plusSeconds(20)));
    }

    /** Or a clock that was a year ahead would keep everybody from saying anything for a year. */
    @Test
    void aWordOfAClockThatWasAheadHoldsUpNoOther() {
        says("one", word(TEN.plus(Duration.ofDays(365))));

        assertThat(says("two", word(TEN))).isTrue();

        isRead(word(TEN));
    }

    @Test
    void aWordThatIsAheadByNoMoreThanClocksDifferStands() {
        says("one", word(TEN.plusSeconds(5)));

        assertThat(says("two", word(TEN))).isFalse();

        isRead(word(TEN.plusSeconds(5)));
    }

    @ParameterizedTest(name = "{0} ms before the reader''s clock: {1}")
    @CsvSource({
        "0, true",
        "90000, true",
        "90001, false",
        "7200000, false",
        "-5000, true",
        "-5001, false",
    })
    void aWordIsGoodForNinetySecondsByTheReadersClock(long milliseconds, boolean good) {
        Word word = word(TEN);

        assertThat(LedgerLease.isGood(word, TEN.plusMillis(milliseconds))).isEqualTo(good);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "a",
                "{}",
                "{\"a\": 1}",
                "[1]",
                "[null]",
                "[[\"a\"]]",
                "[\"a\"",
                "[\"a\"] b",
                "\"a\"",
                "null",
                "too many",
                "too deep",
            })
    void aWordThatMakesNoSenseIsNone(String behind) {
        says("one", word(TEN));
        lease.change(stored ->
                stored.withObject("/metadata/annotations")
                        .put(
                                "gpusharing.io/behind",
                                switch (behind) {
                                    case "too many" ->
                                            IntStream.rangeClosed(0, 1_000)
                                                    .mapToObj("\"b%d\""::formatted)
                                                    .collect(Collectors.joining(",", "[", "]"));
                                    case "too deep" -> "[".repeat(100_000);
                                    default -> behind;
                                }));

        assertThat(LedgerLease.read(lease.client(), NAMESPACE)).isEmpty();
        assertThat(says("one", word(TEN.plusSeconds(10)))).as("and is replaced").isTrue();
        isRead(word(TEN.plusSeconds(10)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"/metadata/annotations", "/spec/renewTime", "/spec"})
    void aWordThatIsIncompleteIsNone(String missing) {
        says("one", word(TEN));
        lease.change(stored -> {
            int end = missing.lastIndexOf('/');
            stored.withObject(missing.substring(0, end)).remove(missing.substring(end + 1));
        });

        assertThat(LedgerLease.read(lease.client(), NAMESPACE)).isEmpty();
    }

    @Test
    void whatOthersWroteOnTheLeaseStays() {
        says("one", word(TEN));
        lease.change(stored ->
                stored.withObject("/metadata/annotations").put("example.com/note", "ours"));

        says("one", word(TEN.plusSeconds(10)));

        lease.change(stored ->
                assertThat(stored.at("/metadata/annotations/example.com~1note").asString())
                        .isEqualTo("ours"));
    }

    /** 256 KiB is what an object may have of annotations. */
    @Test
    void asManyNamesFitAsAWordMayHave() {
        Set<String> names =
                IntStream.range(0, LedgerLease.MOST_BEHIND)
                        .mapToObj(number -> "%0253d".formatted(number))
                        .collect(Collectors.toSet());

        says("one", new Word(TEN, names));

        isRead(new Word(TEN, names));
        lease.change(stored ->
                assertThat(stored.at("/metadata/annotations").toString().length())
                        .isLessThan(256 * 1024));
        assertThatThrownBy(() ->
                        new Word(
                                TEN,
                                IntStream.rangeClosed(0, LedgerLease.MOST_BEHIND)
                                        .mapToObj(Integer::toString)
                                        .collect(Collectors.toSet())))
                .hasMessage("1001 budgets are behind; a word names 1000 at most");
    }

    @Test
    void anApiServerThatIsAwayIsNoAnswer() {
        lease.away(true);

        assertThatThrownBy(() -> LedgerLease.read(lease.client(), NAMESPACE))
                .isInstanceOf(KubernetesClientException.class);
        assertThatThrownBy(() -> says("one", word(TEN)))
                .isInstanceOf(KubernetesClientException.class);
    }
}
