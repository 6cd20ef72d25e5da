package io.gpusharing.e2e.recording;

/**
 * One way in which a pod can begin, go on or end.
 *
 * @param name its folder, for instance {@code end-deleted-with-grace-5}
 * @param did what was done to get it, for readers of the recording
 * @param alone whether it disturbs a node or the API server, and so is lived apart from all others
 */
record Life(String name, String did, boolean alone, Script script) {

    /** Does it, on a cluster where nothing of it exists yet. */
    interface Script {
        void on(LifeContext life);
    }

    static Life of(String name, String did, Script script) {
        return new Life(name, did, false, script);
    }

    static Life alone(String name, String did, Script script) {
        return new Life(name, did, true, script);
    }
}
