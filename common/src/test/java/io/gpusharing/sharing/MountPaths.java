package io.gpusharing.sharing;

import java.util.stream.Stream;

/** Where a container mounts a volume, for the tests of all who read it. */
public final class MountPaths {

    private MountPaths() {}

    /** Where it takes the place of the memory that a pod's containers share. */
    public static Stream<String> ofSharedMemory() {
        return Stream.of(
                "/dev/shm", "/dev/shm/", "//dev//./shm", "dev/shm", "/x/../dev/shm", "/../dev/shm");
    }

    /** Where it does not. */
    public static Stream<String> ofOthers() {
        return Stream.of("", "/", "/dev", "/dev/shm/cache", "/dev/shmem", "/data/dev/shm");
    }
}
