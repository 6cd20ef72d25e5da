package io.gpusharing.scheduler.extender;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * {@code ExtenderBindingResult}.
 *
 * @param error why the pod is not bound; empty if it is
 */
record BindAnswer(@JsonProperty("Error") String error) {}
