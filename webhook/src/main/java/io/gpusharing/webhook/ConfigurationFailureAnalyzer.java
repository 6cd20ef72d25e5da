package io.gpusharing.webhook;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Tells a setting that cannot be worked with as a problem and an advice. */
class ConfigurationFailureAnalyzer extends AbstractFailureAnalyzer<ConfigurationException> {

    @Override
    protected FailureAnalysis analyze(Throwable failure, ConfigurationException cause) {
        return new FailureAnalysis(String.valueOf(cause.getMessage()), cause.advice(), cause);
    }
}
