package io.gpusharing.timekeeper.provider;

import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.validation.annotation.Validated;

/**
 * What is expected of device plugins of ours.
 *
 * @param memoryOveruse what happens to a pod that holds more GPU memory than it was given
 */
@Validated
@ConfigurationProperties("gpusharing.provider")
record ProviderProperties(@DefaultValue MemoryOveruse memoryOveruse) {

    /**
     * @param after how long it may hold more before it is evicted
     */
    record MemoryOveruse(@DefaultValue("Tell") Action action, @DefaultValue("10m") Duration after) {

        boolean evicts() {
            return action == Action.Evict;
        }
    }

    /** What is done besides the Event on the pod. */
    enum Action {
        Tell,
        Evict
    }
}
