package io.gpusharing.request.grammar;

import io.gpusharing.request.GpuShare;

/**
 * An extended resource of a site's own, with the worth it gives to one unit.
 *
 * @param resource full name with its domain, for instance {@code amd.com/gpu}
 * @param perUnit what one unit holds, in micro-GPUs; at most a million whole GPUs
 */
public record CustomResource(String resource, GpuShare perUnit) {

    private static final long MAX_SHARE = CountedResource.A_MILLION * GpuShare.WHOLE;

    /**
     * @throws IllegalArgumentException with advice, if the name has no domain or is one of
     *     Kubernetes itself, or if a unit is worth nothing or too much
     */
    public CustomResource {
        int slash = resource.indexOf('/');
        if (slash <= 0 || slash == resource.length() - 1) {
            throw new IllegalArgumentException(
                    "The custom resource \"%s\" has no domain; write it as example.com/gpu"
                            .formatted(resource));
        }
        String domain = resource.substring(0, slash);
        if (domain.equals("kubernetes.io") || domain.endsWith(".kubernetes.io")) {
            throw new IllegalArgumentException(
                    "The resource %s belongs to Kubernetes; a custom one has a domain of its own"
                            .formatted(resource));
        }
        if (perUnit.equals(GpuShare.NONE)
                || Math.max(perUnit.compute(), perUnit.memory()) > MAX_SHARE) {
            throw new IllegalArgumentException(
                    "One unit of %s has to be worth something, and no more than a million GPUs"
                            .formatted(resource));
        }
    }

    /** The same part of the processors and of the memory, in micro-GPUs. */
    public static CustomResource of(String resource, long microGpus) {
        return new CustomResource(resource, new GpuShare(microGpus, microGpus));
    }
}
