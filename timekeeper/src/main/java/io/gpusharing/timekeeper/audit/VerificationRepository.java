package io.gpusharing.timekeeper.audit;

import io.gpusharing.timekeeper.database.ClusterDatabase;
import io.gpusharing.timekeeper.database.Timestamps;
import java.time.Instant;
import java.util.Optional;
import org.springframework.stereotype.Repository;
import tools.jackson.databind.json.JsonMapper;

/** What the last verification found, for every replica that is asked, and for the next one. */
@Repository
public class VerificationRepository {

    /** What whoever asks too early is told. */
    public static final String NONE_YET =
            "The ledger was not verified yet: that is done five minutes after a replica begins to lead, and then every hour; timekeeper.jar verify does it at once";

    private final ClusterDatabase database;
    private final JsonMapper json;

    VerificationRepository(ClusterDatabase database, JsonMapper json) {
        this.database = database;
        this.json = json;
    }

    /** Takes the place of what was found before. */
    void write(Verification.Report report) {
        database.sql(
                        """
                        insert into verification (cluster, report, sound_at) values (:cluster, :report::jsonb, :sound::timestamptz)
                        on conflict (cluster) do update set report = excluded.report,
                            sound_at = coalesce(excluded.sound_at, verification.sound_at)
                        """)
                .param("report", json.writeValueAsString(report))
                .param("sound", report.sound() ? report.at() : null)
                .update();
    }

    /** Empty until the first verification has ended. */
    public Optional<Verification.Report> read() {
        return database.sql("select report from verification where cluster = :cluster")
                .query(String.class)
                .optional()
                .map(report -> json.readValue(report, Verification.Report.class));
    }

    /** When the last one began that found no difference; empty if there was none. */
    Optional<Instant> lastSound() {
        return database.sql(
                        "select sound_at from verification where cluster = :cluster and sound_at is not null")
                .query((row, number) -> Timestamps.instant(row, "sound_at"))
                .optional();
    }
}
