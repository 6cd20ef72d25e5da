package io.gpusharing.timekeeper.web;

import io.swagger.v3.oas.annotations.Hidden;
import jakarta.servlet.RequestDispatcher;
import jakarta.servlet.http.HttpServletRequest;
import org.springframework.boot.webmvc.error.ErrorController;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * What fails before any controller is chosen, for instance TRACE, is answered as every other error.
 */
@Hidden
@RestController
class UnhandledErrors implements ErrorController {

    @RequestMapping("/error")
    ProblemDetail error(HttpServletRequest request) {
        HttpStatus status =
                request.getAttribute(RequestDispatcher.ERROR_STATUS_CODE) instanceof Integer code
                        ? HttpStatus.valueOf(code)
                        : HttpStatus.NOT_FOUND;
        return ProblemDetail.forStatusAndDetail(
                status,
                status == HttpStatus.METHOD_NOT_ALLOWED
                        ? request.getMethod() + " is taken nowhere here"
                        : status.getReasonPhrase());
    }
}
