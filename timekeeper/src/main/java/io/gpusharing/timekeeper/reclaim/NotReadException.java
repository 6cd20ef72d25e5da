package io.gpusharing.timekeeper.reclaim;

/** The pod that somebody asks about cannot be read; the message says why. */
public class NotReadException extends RuntimeException {

    NotReadException(String why) {
        super(why);
    }
}
