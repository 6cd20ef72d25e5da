package io.gpusharing.webhook.admission;

import java.util.ArrayList;
import java.util.List;

/** What was found about one pod so far. */
final class Findings {

    private final List<Finding> refusals = new ArrayList<>();
    private final List<String> warnings = new ArrayList<>();

    void refuse(String rule, String message) {
        refusals.add(new Finding(rule, message));
    }

    void warn(String message) {
        warnings.add(message);
    }

    void react(Reaction reaction, String rule, String message) {
        switch (reaction) {
            case Refuse -> refuse(rule, message);
            case Warn -> warn(message);
            case Allow -> {}
        }
    }

    List<Finding> refusals() {
        return refusals;
    }

    List<String> warnings() {
        return warnings;
    }
}
