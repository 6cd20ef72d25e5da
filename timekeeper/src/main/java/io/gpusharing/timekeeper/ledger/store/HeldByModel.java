package io.gpusharing.timekeeper.ledger.store;

import io.gpusharing.timekeeper.database.ClusterDatabase;
import io.gpusharing.web.LeaderTask;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.MultiGauge.Row;
import io.micrometer.core.instrument.Tags;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import org.springframework.stereotype.Component;

/**
 * How many GPUs of each model are held: of a pod, the larger of its two parts, whatever its budget
 * charges for it.
 */
@Component
public final class HeldByModel extends LeaderTask {

    private static final Duration EVERY = Duration.ofSeconds(15);

    /** Models are labels of nodes; no site has more, and no mistake shall make more series. */
    private static final int MAX_MODELS = 50;

    private static final double MICROS = 1e6;

    private final ClusterDatabase database;
    private final MultiGauge gauge;

    public HeldByModel(ClusterDatabase database, MeterRegistry registry, Clock clock) {
        super("held-by-model", clock);
        this.database = database;
        this.gauge =
                MultiGauge.builder("gpusharing.model.held")
                        .baseUnit("gpus")
                        .description(
                                "GPUs of a model that pods hold; empty where a node does not say it")
                        .register(registry);
    }

    @Override
    public Instant work(Instant now) {
        var rows = new ArrayList<Row<?>>();
        database.sql(
                        """
                        select case when place <= :most then model else 'others' end as model, sum(held) as held
                        from (select coalesce(model, '') as model, sum(greatest(compute_part, memory_part)) as held,
                                     row_number() over (order by sum(greatest(compute_part, memory_part)) desc,
                                                                 model) as place
                              from pod_allocation where cluster = :cluster and held_until is null group by model) models
                        group by 1
                        """)
                .param("most", MAX_MODELS)
                .query(row -> {
                    rows.add(
                            Row.of(
                                    Tags.of("model", row.getString("model")),
                                    row.getBigDecimal("held").doubleValue() / MICROS));
                });
        gauge.register(rows, true);
        return now.plus(EVERY);
    }
}
