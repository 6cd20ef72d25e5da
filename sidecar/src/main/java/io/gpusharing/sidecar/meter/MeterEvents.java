package io.gpusharing.sidecar.meter;

import io.gpusharing.sidecar.usage.Basis;
import java.util.List;

/** What happens to a meter and is worth one line: state changes only. */
public interface MeterEvents {

    /** The library was found at this place. */
    void libraryOpened(String place);

    /** The library is at none of these places. */
    void libraryMissing(List<String> places);

    /** NVML answers; this is the driver. */
    void initialised(String driverVersion);

    /** NVML cannot be used for now. */
    void closed(String reason);

    /** A device is metered on another basis. */
    void basisChanged(String uuid, Basis basis, String reason);

    /** The wall clock was set by so many microseconds. */
    void clockJumped(long micros);

    /** Only a new container can mend this. */
    void leaving(String reason);
}
