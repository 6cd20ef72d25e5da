package io.gpusharing.sidecar.attribution;

/** What happens to the device plugin's grants and is worth one line: state changes only. */
public interface GrantEvents {

    /** From now on they say who may use which GPU. */
    void grantsRead();

    /** There is a file that cannot be used; until it changes all is as without it. */
    void grantsUnreadable(String reason);

    /** The file is not there any more. */
    void grantsGone();
}
