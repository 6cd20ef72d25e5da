package io.gpusharing.timekeeper.allocation.claim;

import java.util.List;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Which claims are claims for GPUs.
 *
 * @param drivers whose devices are GPUs; with none, nobody is charged by claims and the API server
 *     is never asked for one
 */
@ConfigurationProperties("gpusharing.claims")
record ClaimProperties(@DefaultValue List<GpuDriver> drivers) {}
