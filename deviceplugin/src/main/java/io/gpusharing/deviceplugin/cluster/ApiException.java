package io.gpusharing.deviceplugin.cluster;

import java.io.IOException;

/** The API server was reached, and said no. */
public final class ApiException extends IOException {

    private final int status;

    /**
     * @param status the HTTP status
     * @param message what was asked, and what the API server says of it
     */
    ApiException(int status, String message) {
        super(message);
        this.status = status;
    }

    /** The HTTP status. */
    public int status() {
        return status;
    }
}
