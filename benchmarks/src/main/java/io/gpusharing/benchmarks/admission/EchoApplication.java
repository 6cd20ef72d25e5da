package io.gpusharing.benchmarks.admission;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

/** The floor: a controller on the same server and framework that does nothing but send back. */
@SpringBootApplication
@RestController
public class EchoApplication {

    /** Starts the server. */
    public static void main(String[] arguments) {
        SpringApplication.run(EchoApplication.class, arguments);
    }

    /** Answers with what was asked. */
    @PostMapping("/mutate")
    ResponseEntity<byte[]> echo(@RequestBody byte[] body) {
        return ResponseEntity.ok(body);
    }
}
