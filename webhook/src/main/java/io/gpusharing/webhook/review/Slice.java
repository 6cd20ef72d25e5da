package io.gpusharing.webhook.review;

import java.util.Arrays;

/**
 * A part of a JSON document, to be parsed later.
 *
 * @param document the whole document, shared and never changed
 * @param from first byte
 * @param to byte after the last
 */
// Compared by nobody: a position in a document, not a value.
@SuppressWarnings("ArrayRecordComponent")
public record Slice(byte[] document, int from, int to) {

    /** Nothing. */
    public static final Slice NONE = new Slice(new byte[0], 0, 0);

    /** Length in bytes. */
    public int length() {
        return to - from;
    }

    /** Whether there is nothing. */
    public boolean isEmpty() {
        return from == to;
    }

    /** A copy of the part. */
    public byte[] bytes() {
        return Arrays.copyOfRange(document, from, to);
    }
}
