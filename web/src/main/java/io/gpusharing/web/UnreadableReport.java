package io.gpusharing.web;

import io.gpusharing.kubernetes.Unreadable;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reports objects that cannot be read: a line in the log for each, and their number by kind. */
public final class UnreadableReport {

    private static final Logger log = LoggerFactory.getLogger(UnreadableReport.class);

    private final MeterRegistry metrics;
    private final Set<String> kinds = ConcurrentHashMap.newKeySet();
    private final UnreadableObjects objects = new UnreadableObjects(this::report);

    private UnreadableReport(MeterRegistry metrics) {
        this.metrics = metrics;
    }

    /** What a service's readers tell of, reported in its log and metrics. */
    public static UnreadableObjects objects(MeterRegistry metrics) {
        return new UnreadableReport(metrics).objects;
    }

    private void report(Unreadable object) {
        log.atWarn()
                .addKeyValue("kind", object.kind())
                .addKeyValue("namespace", object.namespace())
                .addKeyValue("name", object.name())
                .addKeyValue("problem", object.why())
                .log("cannot read an object");
        String kind = object.kind();
        if (kinds.add(kind)) {
            Gauge.builder("gpusharing.objects.unreadable", objects, all -> count(all, kind))
                    .tag("kind", kind)
                    .description("Objects that cannot be read now; anything but 0 is an alert")
                    .register(metrics);
        }
    }

    private static long count(UnreadableObjects all, String kind) {
        return all.present().stream().filter(it -> it.kind().equals(kind)).count();
    }
}
