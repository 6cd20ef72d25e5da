package io.gpusharing.deviceplugin.gpu;

/**
 * Why a GPU has failed.
 *
 * @param reason in words
 */
record Fault(String reason, Cure cure) {

    /** The reason, and what is waited for. */
    String words() {
        return switch (cure) {
            case RESET -> reason + "; it needs a reset, or a reboot of the node";
            case CHECK -> reason + "; it is used again once it answers and no process is on it";
        };
    }
}
