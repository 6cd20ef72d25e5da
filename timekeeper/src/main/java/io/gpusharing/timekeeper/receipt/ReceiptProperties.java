package io.gpusharing.timekeeper.receipt;

import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * How long evictions stay objects beside their receipts.
 *
 * @param lookBack how far back an eviction has a bearing on what is done next; for so long its
 *     {@code GpuEviction} is there. At least a day more than {@code reclaim.noReturn} and {@code
 *     reclaim.insistAfter}: reclaim knows what it has done from these objects alone
 */
@ConfigurationProperties("gpusharing.receipts")
record ReceiptProperties(@DefaultValue("2d") Duration lookBack) {}
