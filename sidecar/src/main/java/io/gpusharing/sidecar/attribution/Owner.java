package io.gpusharing.sidecar.attribution;

/**
 * Whose process it is.
 *
 * @param podUid the pod's UID
 * @param containerId the runtime's id of the container; empty where it is not known
 */
public record Owner(String podUid, String containerId) {}
