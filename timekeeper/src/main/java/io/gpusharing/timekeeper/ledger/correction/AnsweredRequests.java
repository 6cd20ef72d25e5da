package io.gpusharing.timekeeper.ledger.correction;

import java.util.Optional;
import java.util.UUID;
import java.util.function.Supplier;
import org.springframework.data.repository.Repository;
import org.springframework.http.HttpStatus;
import org.springframework.web.server.ResponseStatusException;

/**
 * Answers to requests with an {@code Idempotency-Key}. A request that is sent again, because its
 * answer was lost, changes nothing and gets the same answer.
 */
interface AnsweredRequests extends Repository<AnsweredRequest, UUID> {

    Optional<AnsweredRequest> findByCallerAndKey(String caller, String key);

    AnsweredRequest save(AnsweredRequest answered);

    /**
     * Does the work and keeps its answer, or gives the kept one. The caller's transaction has
     * locked what the work is about, so that of two at once the second finds the answer of the
     * first. Of two that use a key for different things, the database lets one commit.
     *
     * @param digest of everything that makes two requests the same
     * @throws ResponseStatusException 422 if the key came with something else before
     */
    default String once(String caller, String key, String digest, Supplier<String> work) {
        AnsweredRequest answered =
                findByCallerAndKey(caller, key)
                        .orElseGet(
                                () -> save(new AnsweredRequest(caller, key, digest, work.get())));
        if (!answered.digest.equals(digest)) {
            throw new ResponseStatusException(
                    HttpStatus.UNPROCESSABLE_CONTENT,
                    "The Idempotency-Key %s was used for another request; use a new one for a new request"
                            .formatted(key));
        }
        return answered.answer;
    }
}
