package io.gpusharing;

import java.lang.management.ManagementFactory;

/** Whether this process took its classes from the AOT cache that its image brings. */
public enum AotCache {
    /** The Java runtime has mapped it. */
    USED,
    /** One was given that does not fit the runtime, its options or the jars. */
    UNUSABLE,
    /** None was given. */
    NONE;

    /** Of the process that asks. */
    public static AotCache ofThisProcess() {
        boolean given =
                ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                        .anyMatch(argument -> argument.startsWith("-XX:AOTCache="));
        return of(given, System.getProperty("java.vm.info", ""));
    }

    /**
     * @param given whether the command line names a cache
     * @param vm the virtual machine's mode in its own words: {@code mixed mode, sharing} if it has
     *     mapped the cache; where one is named it maps no other archive
     */
    static AotCache of(boolean given, String vm) {
        if (!given) {
            return NONE;
        }
        return vm.contains("sharing") ? USED : UNUSABLE;
    }
}
