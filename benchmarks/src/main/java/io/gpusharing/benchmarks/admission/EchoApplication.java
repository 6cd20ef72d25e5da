package io.gpusharing.benchmarks.admission;

import java.util.Map;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;
import tools.jackson.databind.JsonNode;

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

    /** Answers an API server as a webhook that allows everything and changes nothing. */
    @PostMapping("/allow")
    Map<String, Object> allow(@RequestBody JsonNode review) {
        return Map.of(
                "apiVersion", "admission.k8s.io/v1",
                "kind", "AdmissionReview",
                "response", Map.of("uid", review.at("/request/uid").asString(), "allowed", true));
    }
}
