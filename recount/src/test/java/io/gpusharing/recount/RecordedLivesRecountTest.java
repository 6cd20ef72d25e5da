package io.gpusharing.recount;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.testing.AccountingTable;
import io.gpusharing.testing.AccountingTable.Charged;
import io.gpusharing.testing.RecordedLife;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.StringReader;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The recount reads of real audit logs what docs/accounting.md says. */
class RecordedLivesRecountTest {

    static List<RecordedLife> lives() {
        return RecordedLife.all();
    }

    @ParameterizedTest
    @MethodSource("lives")
    void theAuditLogOfALifeShowsItsBeginAndItsEnd(RecordedLife life) throws IOException {
        Charged due = AccountingTable.of(life);
        AuditLog log =
                AuditLog.read(
                        new BufferedReader(new StringReader(life.auditLog())),
                        Duration.ofMinutes(10));

        String uid = life.last().pod().at("/metadata/uid").asText();
        Bill bill = Objects.requireNonNull(Recount.of(log, false).get(uid), uid);

        assertThat(bill.from()).isEqualTo(due.begin());
        if (!due.estimated()) {
            assertThat(bill.to()).isEqualTo(due.end());
        }
    }
}
