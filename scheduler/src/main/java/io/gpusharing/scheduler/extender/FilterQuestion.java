package io.gpusharing.scheduler.extender;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonProperty;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * {@code ExtenderArgs}: on which of these nodes may the pod run?
 *
 * @param nodeNames null unless the extender is configured with {@code nodeCacheCapable}
 */
@JsonIgnoreProperties(ignoreUnknown = true)
record FilterQuestion(
        @JsonProperty("Pod") Pod pod,
        @JsonProperty("NodeNames") @Nullable List<String> nodeNames) {}
