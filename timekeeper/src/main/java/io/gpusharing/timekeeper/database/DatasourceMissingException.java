package io.gpusharing.timekeeper.database;

/** A pod's file system is no place for a ledger: inside a cluster a database must be named. */
class DatasourceMissingException extends RuntimeException {

    DatasourceMissingException() {
        super("No database is configured");
    }
}
