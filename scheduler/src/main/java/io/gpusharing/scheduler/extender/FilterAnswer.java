package io.gpusharing.scheduler.extender;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;
import java.util.Map;

/**
 * {@code ExtenderFilterResult}. Nothing in it is ever null: some releases crash on that.
 *
 * @param failed why not on these, by node; preemption may help there
 * @param unresolvable why not on these, whoever goes
 * @param error why there is no answer; the pod is tried again
 */
@JsonInclude(JsonInclude.Include.NON_EMPTY)
record FilterAnswer(
        @JsonInclude @JsonProperty("NodeNames") List<String> nodeNames,
        @JsonProperty("FailedNodes") Map<String, String> failed,
        @JsonProperty("FailedAndUnresolvableNodes") Map<String, String> unresolvable,
        @JsonProperty("Error") String error) {

    static FilterAnswer of(List<String> nodes) {
        return new FilterAnswer(nodes, Map.of(), Map.of(), "");
    }

    static FilterAnswer failed(String error) {
        return new FilterAnswer(List.of(), Map.of(), Map.of(), error);
    }
}
