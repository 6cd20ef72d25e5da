package io.gpusharing.timekeeper.budget;

import org.springframework.http.HttpStatus;
import org.springframework.web.server.ResponseStatusException;

/** Somebody asked for a budget that does not exist; the API answers 404. */
class UnknownBudgetException extends ResponseStatusException {

    UnknownBudgetException(String name) {
        super(HttpStatus.NOT_FOUND, "There is no GpuBudget named " + name);
    }
}
