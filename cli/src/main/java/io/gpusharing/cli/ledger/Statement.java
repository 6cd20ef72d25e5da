package io.gpusharing.cli.ledger;

import static java.util.Objects.requireNonNullElse;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonInclude;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A statement as the ledger gives it: opening + changes - used = closing. Amounts are
 * micro-GPU-seconds.
 *
 * @param opening null if the budget was unlimited, as is {@code closing}
 * @param namespaces used by namespace
 * @param unwatched spans in which pods may have come and gone uncharged, latest first
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
record Statement(
        String budget,
        Instant from,
        Instant to,
        @Nullable Long opening,
        List<Change> changes,
        long used,
        @Nullable Long closing,
        Map<String, Long> namespaces,
        @JsonInclude(JsonInclude.Include.NON_EMPTY) List<Unwatched> unwatched,
        List<Line> lines) {

    private static final String CORRECTION = "Correction";

    Statement {
        changes = requireNonNullElse(changes, List.of());
        unwatched = requireNonNullElse(unwatched, List.of());
    }

    /** A change other than use. */
    record Change(Instant at, String kind, String source, long amount) {}

    /** A span in which nobody saw pods come and go, and what that means. */
    record Unwatched(Instant since, Instant until, String note) {}

    /**
     * What a pod used in an hour, or a correction of it.
     *
     * @param kind {@code Charge}, {@code Running} or {@code Correction}
     * @param pod its UID; null, as its name, where the user may not get pods
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record Line(
            String kind,
            Instant from,
            Instant to,
            String namespace,
            @Nullable String pod,
            @Nullable String podName,
            @Nullable String ownerKind,
            @Nullable String ownerName,
            @Nullable String model,
            long used,
            @Nullable String reason,
            @Nullable String author) {

        /** Whether it is posted, so that it can be corrected. */
        @JsonIgnore
        boolean isCharge() {
            return kind.equals("Charge");
        }

        /** Whether it is not posted yet. */
        @JsonIgnore
        boolean isRunning() {
            return kind.equals("Running");
        }

        /** By its name, if that is known. */
        @JsonIgnore
        String podText() {
            return podName != null ? podName : requireNonNullElse(pod, "");
        }

        /** The two as one. */
        private Line plus(Line other) {
            return new Line(
                    other.kind,
                    from.isBefore(other.from) ? from : other.from,
                    to.isAfter(other.to) ? to : other.to,
                    namespace,
                    pod,
                    other.podName,
                    other.ownerKind,
                    other.ownerName,
                    other.model,
                    used + other.used,
                    reason,
                    author);
        }
    }

    /** Puts pages together. */
    static Statement of(List<Statement> pages) {
        Statement first = pages.getFirst();
        return new Statement(
                first.budget,
                first.from,
                first.to,
                first.opening,
                first.changes,
                first.used,
                first.closing,
                first.namespaces,
                first.unwatched,
                pages.stream().flatMap(page -> page.lines.stream()).toList());
    }

    /**
     * A line for each pod, who used most first, and corrections behind them. Of a pod that runs on,
     * {@code Running}.
     */
    List<Line> byPod() {
        var pods = new LinkedHashMap<List<@Nullable String>, Line>();
        var corrections = new ArrayList<Line>();
        for (Line line : lines) {
            if (line.kind.equals(CORRECTION)) {
                corrections.add(line);
            } else {
                var pod = new ArrayList<@Nullable String>();
                pod.add(line.namespace);
                pod.add(line.pod);
                pods.merge(pod, line, Line::plus);
            }
        }
        var all = new ArrayList<>(pods.values());
        all.sort(Comparator.comparingLong(Line::used).reversed());
        all.addAll(corrections);
        return all;
    }
}
