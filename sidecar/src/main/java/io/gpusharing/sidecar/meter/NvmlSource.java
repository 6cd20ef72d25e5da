package io.gpusharing.sidecar.meter;

import io.gpusharing.nvml.NvmlLibrary;

/** Where the meter gets the library from; asked again each time access has to be renewed. */
public interface NvmlSource {

    /** Opens the library, or says why not. */
    NvmlLibrary open();
}
