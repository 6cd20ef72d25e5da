package io.gpusharing.webhook.explain;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.gpusharing.request.RequestGrammars;
import io.gpusharing.webhook.admission.ClassProperties;
import io.gpusharing.webhook.admission.Explainer;
import io.gpusharing.webhook.admission.PolicyProperties;
import io.gpusharing.webhook.admission.WorkloadProperties;
import io.gpusharing.webhook.injection.SidecarProperties;
import io.gpusharing.webhook.review.ReviewReader;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.Arrays;
import org.springframework.aot.AotDetector;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.SpringProperties;

/** {@code java -jar webhook.jar explain -f pod.yaml}: the command line around it. */
public final class Explain {

    /** The first argument that asks for it. */
    public static final String COMMAND = "explain";

    private static final int USAGE = 2;

    private Explain() {}

    /**
     * Explains one file.
     *
     * @param arguments the command, {@code -f} and a file, {@code -} for standard input; then
     *     properties as {@code --gpusharing.sidecar.mode=None}
     * @param properties configurations that read the installation's properties
     * @return 0 if every manifest would be accepted, 1 if not, 2 if that was no question
     */
    public static int run(String[] arguments, PrintStream out, Class<?>... properties)
            throws IOException {
        if (arguments.length < 3 || !arguments[1].equals("-f")) {
            out.println("usage: explain -f FILE|- [--property=value ...]");
            return USAGE;
        }
        String yaml =
                arguments[2].equals("-")
                        ? new String(System.in.readAllBytes(), UTF_8)
                        : Files.readString(Path.of(arguments[2]));
        // The image's beans are chosen when it is built; these are others.
        SpringProperties.setProperty(AotDetector.AOT_ENABLED, "false");
        try (var context =
                new SpringApplicationBuilder(ExplainConfiguration.class)
                        .sources(properties)
                        .web(WebApplicationType.NONE)
                        .logStartupInfo(false)
                        .run(Arrays.copyOfRange(arguments, 3, arguments.length))) {
            return context.getBean(ExplainCommand.class).explain(yaml) ? 0 : 1;
        }
    }

    /** Only what a decision needs: no server, no cluster. */
    @Configuration(proxyBeanMethods = false)
    @EnableConfigurationProperties({
        ClassProperties.class,
        PolicyProperties.class,
        SidecarProperties.class,
        WorkloadProperties.class
    })
    static class ExplainConfiguration {

        @Bean
        ExplainCommand explainCommand(
                RequestGrammars grammars,
                PolicyProperties policy,
                ClassProperties classes,
                SidecarProperties sidecar,
                WorkloadProperties workloads) {
            return new ExplainCommand(
                    new Explainer(grammars, policy, classes, sidecar, workloads),
                    new ReviewReader(grammars::reads),
                    Clock.systemUTC(),
                    System.out);
        }
    }
}
