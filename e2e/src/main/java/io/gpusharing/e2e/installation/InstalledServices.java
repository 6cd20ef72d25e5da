package io.gpusharing.e2e.installation;

import io.fabric8.kubernetes.api.model.Pod;

/**
 * GPUSharing at work in a cluster: as processes beside it ({@link Installation}), or in containers
 * on its nodes ({@link InClusterInstallation}).
 */
public interface InstalledServices {

    /** What the timekeeper knows, for people and programs. */
    TimekeeperApi api();

    /**
     * Lets a running pod keep its GPU busy for 30 % of the time, as its meter sees it.
     *
     * @return how that was done, for people
     */
    String keepGpuBusy(Pod pod);

    /** How a person looks around in what still runs, a line each. */
    String howToExplore();
}
