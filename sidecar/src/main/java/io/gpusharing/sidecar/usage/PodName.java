package io.gpusharing.sidecar.usage;

/** A pod's names. */
public record PodName(String namespace, String pod) {}
