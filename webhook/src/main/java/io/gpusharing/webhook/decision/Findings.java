package io.gpusharing.webhook.decision;

import java.util.ArrayList;
import java.util.List;

/** What was found about one pod so far. */
public final class Findings {

    private final List<Finding> refusals = new ArrayList<>();
    private final List<String> warnings = new ArrayList<>();

    public void refuse(String rule, String message) {
        refusals.add(new Finding(rule, message));
    }

    public void warn(String message) {
        warnings.add(message);
    }

    public void react(Reaction reaction, String rule, String message) {
        switch (reaction) {
            case Refuse -> refuse(rule, message);
            case Warn -> warn(message);
            case Allow -> {}
        }
    }

    public List<Finding> refusals() {
        return refusals;
    }

    public List<String> warnings() {
        return warnings;
    }
}
