package io.gpusharing.timekeeper.database;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

class DatasourceMissingFailureAnalyzer extends AbstractFailureAnalyzer<DatasourceMissingException> {

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, DatasourceMissingException cause) {
        return new FailureAnalysis(
                "The timekeeper runs inside a cluster and no database is configured.",
                "Set SPRING_DATASOURCE_URL (jdbc:postgresql://HOST:5432/NAME), "
                        + "SPRING_DATASOURCE_USERNAME and SPRING_DATASOURCE_PASSWORD, for instance by the "
                        + "chart's value timekeeper.database. PostgreSQL 16 or newer.",
                cause);
    }
}
