package io.gpusharing.deviceplugin.runtime;

/** Whether a container of this node can reach GPUs that it was not given, by a variable alone. */
public sealed interface Exposure {

    /** It cannot. */
    record Closed() implements Exposure {}

    /**
     * It can.
     *
     * @param reason by what, as a sentence without its full stop
     * @param remedy the lines of a configuration file that close it
     */
    record Open(String reason, String remedy) implements Exposure {}

    /**
     * Nobody can say.
     *
     * @param problem which file could not be read, and why
     */
    record Unknown(String problem) implements Exposure {}
}
