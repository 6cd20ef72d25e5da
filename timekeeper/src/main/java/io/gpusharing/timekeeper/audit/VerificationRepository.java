package io.gpusharing.timekeeper.audit;

import io.gpusharing.timekeeper.database.ClusterDatabase;
import java.util.Optional;
import org.springframework.stereotype.Repository;
import tools.jackson.databind.json.JsonMapper;

/** What the last verification found, for every replica that is asked. */
@Repository
class VerificationRepository {

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
                        insert into verification (cluster, report) values (:cluster, :report::jsonb)
                        on conflict (cluster) do update set report = excluded.report
                        """)
                .param("report", json.writeValueAsString(report))
                .update();
    }

    /** Empty until the first verification has ended. */
    Optional<Verification.Report> read() {
        return database.sql("select report from verification where cluster = :cluster")
                .query(String.class)
                .optional()
                .map(report -> json.readValue(report, Verification.Report.class));
    }
}
