package io.gpusharing.timekeeper.ledger;

import io.gpusharing.timekeeper.cluster.ClusterProperties;
import java.time.Period;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Repository;

/**
 * How long single charges are kept: as configured, or as set at run time for all replicas. Whoever
 * drops, drops for all clusters of a database; so where there are several, nobody sets a shorter
 * time than is configured.
 */
@Repository
public class Retention {

    private static final int MAX_MONTHS = 12_000;

    private final JdbcClient jdbc;
    private final String cluster;
    private final int configured;

    Retention(JdbcClient jdbc, ClusterProperties cluster, LedgerProperties properties) {
        this.jdbc = jdbc;
        this.cluster = cluster.id();
        this.configured = Math.toIntExact(properties.keepCharges().toTotalMonths());
    }

    /**
     * What holds now.
     *
     * @param months how many whole months are kept besides the one that runs; 0 for ever
     * @param configured what holds unless something else is set
     * @param isSet whether something was set that holds
     */
    public record Setting(int months, int configured, boolean isSet) {}

    /** Whether charges can be kept for a period: whole months, a thousand years at most. */
    public static boolean isLegal(Period period) {
        return period.equals(period.withDays(0))
                && !period.isNegative()
                && period.toTotalMonths() <= MAX_MONTHS;
    }

    /** What holds now. */
    public Setting now() {
        return stored().filter(months -> !isRefused(months))
                .map(months -> new Setting(months, configured, true))
                .orElse(new Setting(configured, configured, false));
    }

    /**
     * Sets it for this cluster, over restarts.
     *
     * @param months 0 for ever; null for what is configured
     * @return whether the cluster is in the ledger yet; nothing is set if not
     */
    public boolean set(@Nullable Integer months) {
        return jdbc.sql("update cluster set keep_charges_months = :months::integer where id = :id")
                        .param("months", months)
                        .param("id", cluster)
                        .update()
                > 0;
    }

    /** Whether a time is too short, because it would hold for other clusters, too. */
    public boolean isRefused(int months) {
        return isShorter(months, configured)
                && jdbc.sql("select exists(select from cluster where id <> :id)")
                        .param("id", cluster)
                        .query(Boolean.class)
                        .single();
    }

    private static boolean isShorter(int months, int than) {
        return months != 0 && (than == 0 || months < than);
    }

    private Optional<Integer> stored() {
        return jdbc.sql(
                        """
                        select keep_charges_months from cluster
                         where id = :id and keep_charges_months is not null
                        """)
                .param("id", cluster)
                .query(Integer.class)
                .optional();
    }
}
