package io.gpusharing.scheduler.extender;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.HashMap;
import java.util.Map;

/**
 * {@code ExtenderPreemptionResult}. A node that is null makes kube-scheduler crash, one with nobody
 * to evict ends the attempt; where nobody is to go there is no node at all.
 */
@JsonInclude(JsonInclude.Include.NON_EMPTY)
record PreemptAnswer(@JsonProperty("NodeNameToMetaVictims") Map<String, MetaVictims> nodes) {

    static final PreemptAnswer NOBODY = new PreemptAnswer(Map.of());

    PreemptAnswer(Map<String, MetaVictims> nodes) {
        var some = new HashMap<>(nodes);
        some.values().removeIf(victims -> victims.pods().isEmpty());
        this.nodes = some;
    }
}
