package io.gpusharing.webhook.decision;

/**
 * Something about a pod that the site does not want, or wants to warn of.
 *
 * @param rule short name, a label of metrics
 * @param message field, value, rule and what to write instead, in one line
 */
public record Finding(String rule, String message) {}
