package io.gpusharing.timekeeper.reclaim;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonRawValue;
import io.gpusharing.budget.GpuTime;
import io.gpusharing.timekeeper.database.ClusterDatabase;
import io.gpusharing.timekeeper.database.Timestamps;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.List;
import java.util.UUID;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Repository;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** The receipts of evictions, for readers. */
@Repository
public class EvictionRepository {

    // Ordered like the index by time, so that a page does not read the rows beyond it.
    private static final String RECEIPTS =
            """
            select *, to_char(decided_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
                      || '_' || waiter_uid || '_' || attempt || '_' || victim_uid as cursor
              from reclaim_receipt
             where cluster = :cluster
               and (:namespace::text is null or victim_namespace = :namespace or waiter_namespace = :namespace)
               and (:pod::uuid is null or victim_uid = :pod or waiter_uid = :pod)
               and (:after::text is null or (decided_at, waiter_uid, attempt, victim_uid)
                      < (split_part(:after, '_', 1)::timestamptz, split_part(:after, '_', 2)::uuid,
                         split_part(:after, '_', 3)::integer, split_part(:after, '_', 4)::uuid))
             order by decided_at desc, waiter_uid desc, attempt desc, victim_uid desc limit :size
            """;

    private static final Pattern CURSOR =
            Pattern.compile(
                    "\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{6}Z_UUID_\\d{1,9}_UUID"
                            .replace("UUID", "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"));

    private static final JsonMapper JSON = JsonMapper.builder().build();

    private final ClusterDatabase database;

    EvictionRepository(ClusterDatabase database) {
        this.database = database;
    }

    /** A pod of an eviction. */
    public record Who(UUID uid, String namespace, String name, String budget) {}

    /**
     * Why a pod was evicted.
     *
     * @param because the same as a sentence
     * @param cost micro-GPU-seconds of the victim's run, which may be lost
     * @param considered every pod that was considered, and why it stayed
     * @param result {@code Evicted}; {@code Deleted} because the API server had refused it for too
     *     long; {@code Refused} by the API server; {@code Spared} because another of the same plan
     *     was refused; {@code Gone}; or {@code Planned} while that is open
     * @param helped whether the waiter was bound in time where room was made; absent while that is
     *     open
     * @param outcome the same in words
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Receipt(
            Instant at,
            Who victim,
            Who waiter,
            Instant waiterSince,
            String node,
            String because,
            String reason,
            long cost,
            String costMinutes,
            @JsonRawValue String considered,
            String result,
            @Nullable String resultDetail,
            @Nullable Boolean helped,
            @Nullable String outcome,
            @JsonIgnore String cursor) {

        /**
         * The same for who may see the pods of these namespaces: whoever else was considered has
         * neither uid nor name. Victim and waiter know each other by the Events on them.
         */
        public Receipt shownIn(Predicate<String> namespaces) {
            JsonNode all = JSON.readTree(considered);
            for (JsonNode one : all) {
                if (one.path("pod") instanceof ObjectNode pod
                        && !namespaces.test(pod.path("namespace").asString())) {
                    pod.remove(List.of("name", "uid"));
                }
            }
            return new Receipt(
                    at,
                    victim,
                    waiter,
                    waiterSince,
                    node,
                    because,
                    reason,
                    cost,
                    costMinutes,
                    JSON.writeValueAsString(all),
                    result,
                    resultDetail,
                    helped,
                    outcome,
                    cursor);
        }
    }

    /** Whether a text could be the cursor of a receipt; the database would take no other. */
    public static boolean isCursor(String text) {
        if (!CURSOR.matcher(text).matches()) {
            return false;
        }
        try {
            Instant.parse(text.substring(0, text.indexOf('_')));
            return true;
        } catch (DateTimeParseException e) {
            return false;
        }
    }

    /**
     * Receipts, latest first.
     *
     * @param namespace of victim or waiter; null for all
     * @param pod victim or waiter; null for all
     * @param after cursor of the last one of the page before
     */
    public List<Receipt> receipts(
            @Nullable String namespace, @Nullable UUID pod, @Nullable String after, int size) {
        return database.sql(RECEIPTS)
                .param("namespace", namespace)
                .param("pod", pod)
                .param("after", after)
                .param("size", size)
                .query((row, number) -> receipt(row))
                .list();
    }

    private static Receipt receipt(ResultSet row) throws SQLException {
        Who victim = who(row, "victim");
        Who waiter = who(row, "waiter");
        GpuTime cost = new GpuTime(row.getLong("cost"));
        String detail = row.getString("result_detail");
        boolean helped = row.getBoolean("helped");
        boolean open = row.wasNull();
        Instant since = Timestamps.instant(row, "waiter_since");
        return new Receipt(
                Timestamps.instant(row, "decided_at"),
                victim,
                waiter,
                since,
                row.getString("node"),
                "%s/%s of budget %s, which was over its time, %s on %s for %s/%s of budget %s, which had waited since %s: %s"
                        .formatted(
                                victim.namespace(),
                                victim.name(),
                                victim.budget(),
                                did(row.getString("result")),
                                row.getString("node"),
                                waiter.namespace(),
                                waiter.name(),
                                waiter.budget(),
                                since,
                                row.getString("reason")),
                row.getString("reason"),
                cost.microGpuSeconds(),
                cost.minutes(),
                row.getString("considered"),
                row.getString("result"),
                detail.isEmpty() ? null : detail,
                open ? null : helped,
                open ? null : row.getString("outcome"),
                row.getString("cursor"));
    }

    private static String did(String result) {
        return switch (result) {
            case "Evicted", "Deleted" -> "made room";
            case "Gone" -> "had gone already when it was to make room";
            default -> "was to make room";
        };
    }

    private static Who who(ResultSet row, String role) throws SQLException {
        return new Who(
                row.getObject(role + "_uid", UUID.class),
                row.getString(role + "_namespace"),
                row.getString(role + "_name"),
                row.getString(role + "_budget"));
    }
}
