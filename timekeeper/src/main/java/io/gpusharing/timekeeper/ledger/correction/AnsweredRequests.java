package io.gpusharing.timekeeper.ledger.correction;

import io.gpusharing.timekeeper.database.ClusterDatabase;
import io.gpusharing.timekeeper.web.Callers.Caller;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.function.Supplier;
import org.springframework.http.HttpStatus;
import org.springframework.stereotype.Component;
import org.springframework.web.server.ResponseStatusException;

/**
 * Answers to requests with an {@code Idempotency-Key}. A request that is sent again, because its
 * answer was lost, changes nothing and gets the same answer.
 */
@Component
class AnsweredRequests {

    private final ClusterDatabase database;

    AnsweredRequests(ClusterDatabase database) {
        this.database = database;
    }

    /**
     * Does the work and keeps its answer, in the caller's transaction, or gives the kept one.
     *
     * @param asked everything that makes two requests the same
     * @throws ResponseStatusException 422 if the key came with something else before
     */
    String once(Caller caller, String key, String asked, Supplier<String> work) {
        String digest = digest(asked);
        // Of two at once the second waits here until the first has committed.
        int first =
                database.sql(
                                """
                                insert into answered_request (cluster, caller, key, digest, answer)
                                values (:cluster, :caller, :key, :digest, '')
                                on conflict (cluster, caller, key) do nothing
                                """)
                        .param("caller", caller.name())
                        .param("key", key)
                        .param("digest", digest)
                        .update();
        if (first == 0) {
            return kept(caller, key, digest);
        }
        String answer = work.get();
        database.sql(
                        """
                        update answered_request set answer = :answer
                        where cluster = :cluster and caller = :caller and key = :key
                        """)
                .param("answer", answer)
                .param("caller", caller.name())
                .param("key", key)
                .update();
        return answer;
    }

    private record Kept(String digest, String answer) {}

    private String kept(Caller caller, String key, String digest) {
        Kept kept =
                database.sql(
                                """
                                select digest, answer from answered_request
                                where cluster = :cluster and caller = :caller and key = :key
                                """)
                        .param("caller", caller.name())
                        .param("key", key)
                        .query((row, number) -> new Kept(row.getString(1), row.getString(2)))
                        .single();
        if (!kept.digest().equals(digest)) {
            throw new ResponseStatusException(
                    HttpStatus.UNPROCESSABLE_CONTENT,
                    "The Idempotency-Key "
                            + key
                            + " was used for another request; use a new one for a new request");
        }
        return kept.answer();
    }

    private static String digest(String asked) {
        try {
            return HexFormat.of()
                    .formatHex(
                            MessageDigest.getInstance("SHA-256")
                                    .digest(asked.getBytes(StandardCharsets.UTF_8)));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}
