package io.gpusharing.benchmarks.timekeeper;

import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpUpgradeHandler;
import jakarta.servlet.http.WebConnection;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.concurrent.CompletableFuture;

/** A WebSocket of which only our side speaks: a text frame for each event (RFC 6455). */
public final class Watch implements HttpUpgradeHandler {

    private static final String GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
    private static final int TEXT = 0x81;
    private static final int TWO_BYTES = 126;
    private static final int EIGHT_BYTES = 127;

    private final CompletableFuture<WebConnection> connection = new CompletableFuture<>();

    static Watch open(HttpServletRequest request, HttpServletResponse response)
            throws IOException, ServletException {
        String key = request.getHeader("Sec-WebSocket-Key") + GUID;
        response.setHeader("Upgrade", "websocket");
        response.setHeader("Connection", "Upgrade");
        response.setHeader(
                "Sec-WebSocket-Accept",
                Base64.getEncoder()
                        .encodeToString(sha1().digest(key.getBytes(StandardCharsets.US_ASCII))));
        return request.upgrade(Watch.class);
    }

    private static MessageDigest sha1() {
        try {
            return MessageDigest.getInstance("SHA-1");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void init(WebConnection opened) {
        connection.complete(opened);
    }

    @Override
    public void destroy() {}

    synchronized void send(byte[] text) throws IOException {
        OutputStream out = connection.join().getOutputStream();
        var frame = ByteBuffer.allocate(10 + text.length).put((byte) TEXT);
        if (text.length < TWO_BYTES) {
            frame.put((byte) text.length);
        } else if (text.length < 1 << Short.SIZE) {
            frame.put((byte) TWO_BYTES).putShort((short) text.length);
        } else {
            frame.put((byte) EIGHT_BYTES).putLong(text.length);
        }
        frame.put(text);
        out.write(frame.array(), 0, frame.position());
        out.flush();
    }
}
