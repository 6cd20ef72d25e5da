package io.gpusharing.scheduler.explaining;

/** The pod that somebody asks about cannot be read; the message says why. */
public class NotReadException extends RuntimeException {

    NotReadException(String why) {
        super(why);
    }
}
