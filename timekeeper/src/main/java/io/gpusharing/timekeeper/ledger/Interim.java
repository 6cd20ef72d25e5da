package io.gpusharing.timekeeper.ledger;

import io.gpusharing.timekeeper.cluster.*;
import io.gpusharing.timekeeper.metering.*;
import java.util.*;
import org.springframework.stereotype.Component;

@Component
class Interim implements PodFollower {
    @Override
    public Optional<String> position() {
        return Optional.empty();
    }

    @Override
    public void listed(List<PodFacts> p, String x, boolean r) {}

    @Override
    public void changed(PodFacts p, String x) {}

    @Override
    public void removed(PodFacts p, String x) {}

    @Override
    public void passed(String x) {}
}
