package io.gpusharing.webhook.review;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.io.IOContext;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.core.json.UTF8StreamJsonParser;
import tools.jackson.core.sym.ByteQuadsCanonicalizer;

/**
 * Parsers that pass over values nobody asks for by their brackets and quotes alone. Half of a pod
 * is managed fields, whose names the usual parser would decode one by one.
 *
 * <p>What is passed over is not checked further: the API server has written it, and will check what
 * becomes of it.
 */
final class ReviewJsonFactory extends JsonFactory {

    private static final long serialVersionUID = 1;

    /** Far deeper than any object of Kubernetes, whose own limit for custom resources is lower. */
    private static final int MAX_DEPTH = 200;

    ReviewJsonFactory() {
        super(
                JsonFactory.builder()
                        .streamReadConstraints(
                                StreamReadConstraints.builder()
                                        .maxNestingDepth(MAX_DEPTH)
                                        .maxNameLength(4096)
                                        .maxNumberLength(100)
                                        .build())
                        .disable(StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION));
    }

    @Override
    protected JsonParser _createParser(
            ObjectReadContext read, IOContext io, byte[] document, int from, int length) {
        return new Parser(
                read,
                io,
                read.getStreamReadFeatures(_streamReadFeatures),
                read.getFormatReadFeatures(_formatReadFeatures),
                _byteSymbolCanonicalizer.makeChildOrPlaceholder(_factoryFeatures),
                document,
                from,
                from + length);
    }

    private static final class Parser extends UTF8StreamJsonParser {

        /** Strings are scanned by eight bytes at a time. */
        private static final VarHandle EIGHT =
                MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

        private static final long ONES = 0x0101_0101_0101_0101L;
        private static final long QUOTES = ONES * '"';
        private static final long BACKSLASHES = ONES * '\\';

        Parser(
                ObjectReadContext read,
                IOContext io,
                int features,
                int formatFeatures,
                ByteQuadsCanonicalizer names,
                byte[] document,
                int from,
                int to) {
            super(read, io, features, formatFeatures, null, names, document, from, to, 0, false);
        }

        @Override
        public JsonParser skipChildren() {
            JsonToken begin = currentToken();
            if (begin == JsonToken.START_OBJECT || begin == JsonToken.START_ARRAY) {
                passOver(begin);
                _streamReadContext = _streamReadContext.getParent();
                _updateToken(
                        begin == JsonToken.START_OBJECT
                                ? JsonToken.END_OBJECT
                                : JsonToken.END_ARRAY);
            }
            return this;
        }

        /** From behind the opening bracket to behind its closing one. */
        private void passOver(JsonToken begin) {
            int outside = _streamReadContext.getParent().getNestingDepth();
            int depth = outside + 1;
            int at = _inputPtr;
            while (at < _inputEnd) {
                switch (_inputBuffer[at++]) {
                    case '"' -> at = behindString(_inputBuffer, at, _inputEnd);
                    // However deep: managed fields may be nested as deep as anybody likes.
                    case '{', '[' -> depth++;
                    case '}', ']' -> {
                        if (--depth == outside) {
                            _inputPtr = at;
                            return;
                        }
                    }
                    default -> {
                        // Neither begins nor ends anything.
                    }
                }
            }
            _inputPtr = at;
            _reportInvalidEOF(" within a value", begin);
        }

        /** From behind the opening quote to behind its closing one, or to the end. */
        private static int behindString(byte[] bytes, int from, int end) {
            int at = from;
            while (at < end) {
                if (at + Long.BYTES <= end) {
                    long eight = (long) EIGHT.get(bytes, at);
                    long found = zeros(eight ^ QUOTES) | zeros(eight ^ BACKSLASHES);
                    if (found == 0) {
                        at += Long.BYTES;
                        continue;
                    }
                    at += Long.numberOfTrailingZeros(found) / Byte.SIZE;
                }
                byte here = bytes[at++];
                if (here == '"') {
                    return at;
                }
                if (here == '\\') {
                    at++;
                }
            }
            return end;
        }

        /** The highest bit of the lowest byte that is zero, if there is one. */
        private static long zeros(long bytes) {
            return (bytes - ONES) & ~bytes & (ONES << 7);
        }
    }
}
