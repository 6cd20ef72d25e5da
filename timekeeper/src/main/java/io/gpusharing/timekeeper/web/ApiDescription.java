package io.gpusharing.timekeeper.web;

import io.swagger.v3.oas.models.OpenAPI;
import io.swagger.v3.oas.models.Operation;
import io.swagger.v3.oas.models.info.Info;
import io.swagger.v3.oas.models.media.Content;
import io.swagger.v3.oas.models.media.MediaType;
import io.swagger.v3.oas.models.media.ObjectSchema;
import io.swagger.v3.oas.models.media.Schema;
import io.swagger.v3.oas.models.media.StringSchema;
import io.swagger.v3.oas.models.responses.ApiResponse;
import io.swagger.v3.oas.models.security.SecurityRequirement;
import io.swagger.v3.oas.models.security.SecurityScheme;
import java.util.Map;
import org.springdoc.core.customizers.OpenApiCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * What every part of the interface has in common, for its description at {@code /api/v1/openapi}
 * (OpenAPI 3.1).
 */
@Configuration(proxyBeanMethods = false)
class ApiDescription {

    private static final String TOKEN = "kubernetes";
    private static final String BUDGETS = "/api/v1/budgets/";
    private static final Map<String, String> PROBLEMS =
            Map.of(
                    "400", "The question cannot be read",
                    "401", "No token, or one that the API server does not know",
                    "403", "RBAC on gpubudgets.gpusharing.io does not allow it",
                    "404", "There is no such thing",
                    "503", "The database or the API server is away; ask again");

    /** What orders may be answered besides. */
    private static final Map<String, String> PROBLEMS_OF_ORDERS =
            Map.of(
                    "409", "What this Idempotency-Key made was deleted since",
                    "422", "The order cannot be carried out, or its Idempotency-Key made another");

    @Bean
    OpenApiCustomizer description() {
        return api -> {
            api.info(
                    new Info()
                            .title("GPUSharing timekeeper")
                            .version("v1")
                            .description(
                                    "Amounts are micro-GPU-seconds, rates micro-GPUs (a whole GPU is 1000000), spans [from, to)."
                                            + " The fields named ...Minutes are rounded for people; the integers beside them decide."
                                            + " Lists are paged: the header Link names the next page."));
            api.getComponents()
                    .addSecuritySchemes(
                            TOKEN,
                            new SecurityScheme()
                                    .type(SecurityScheme.Type.HTTP)
                                    .scheme("bearer")
                                    .description("kubectl create token NAME"));
            api.addSecurityItem(new SecurityRequirement().addList(TOKEN));
            api.getComponents().addSchemas("Problem", problem());
            operations(api);
        };
    }

    private static void operations(OpenAPI api) {
        api.getPaths()
                .forEach((name, path) -> {
                    path.readOperations().forEach(it -> addProblems(it, PROBLEMS));
                    if (path.getPost() != null && name.startsWith(BUDGETS)) {
                        addProblems(path.getPost(), PROBLEMS_OF_ORDERS);
                    }
                });
    }

    private static void addProblems(Operation operation, Map<String, String> problems) {
        Content problem =
                new Content()
                        .addMediaType(
                                "application/problem+json",
                                new MediaType()
                                        .schema(
                                                new Schema<>()
                                                        .$ref("#/components/schemas/Problem")));
        problems.forEach((code, description) ->
                operation
                        .getResponses()
                        .addApiResponse(
                                code, new ApiResponse().description(description).content(problem)));
    }

    private static Schema<?> problem() {
        return new ObjectSchema()
                .description("RFC 9457")
                .addProperty("title", new StringSchema())
                .addProperty("status", new io.swagger.v3.oas.models.media.IntegerSchema())
                .addProperty(
                        "detail", new StringSchema().description("what failed, and what to do"))
                .addProperty("instance", new StringSchema());
    }
}
