package io.gpusharing.scheduler.extender;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonProperty;

/** {@code ExtenderBindingArgs}: bind the pod to this node. */
@JsonIgnoreProperties(ignoreUnknown = true)
record BindQuestion(
        @JsonProperty("PodName") String name,
        @JsonProperty("PodNamespace") String namespace,
        @JsonProperty("PodUID") String uid,
        @JsonProperty("Node") String node) {}
