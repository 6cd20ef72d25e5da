package io.gpusharing.webhook.settings;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/** Explains a setting that cannot be worked with by a problem and an advice. */
// Before Spring Boot's own, which would show the same problem as a failed binding, without the
// advice.
@Order(Ordered.HIGHEST_PRECEDENCE)
class ConfigurationFailureAnalyzer extends AbstractFailureAnalyzer<ConfigurationException> {

    @Override
    protected FailureAnalysis analyze(Throwable failure, ConfigurationException cause) {
        return new FailureAnalysis(String.valueOf(cause.getMessage()), cause.advice(), cause);
    }
}
