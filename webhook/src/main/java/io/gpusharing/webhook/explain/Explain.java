package io.gpusharing.webhook.explain;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.gpusharing.webhook.settings.GrammarConfiguration;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.springframework.aot.AotDetector;
import org.springframework.beans.BeansException;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.core.SpringProperties;
import org.yaml.snakeyaml.error.MarkedYAMLException;

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
     * @return 0 if every manifest would be accepted, 1 if not, 2 if the arguments or the file
     *     cannot be read
     */
    public static int run(String[] arguments, PrintStream out) {
        if (arguments.length < 3 || !arguments[1].equals("-f")) {
            out.println("usage: explain -f FILE|- [--property=value ...]");
            return USAGE;
        }
        for (String option : List.of(arguments).subList(3, arguments.length)) {
            if (!option.startsWith("--gpusharing.")) {
                out.printf("%s is no option: options are --gpusharing.property=value%n", option);
                return USAGE;
            }
        }
        List<Object> manifests;
        try {
            manifests = ExplainCommand.manifests(read(arguments[2]));
        } catch (NoSuchFileException e) {
            out.printf("cannot read %s: there is no such file%n", arguments[2]);
            return USAGE;
        } catch (IOException e) {
            out.printf("cannot read %s: %s%n", arguments[2], e.getMessage());
            return USAGE;
        } catch (MarkedYAMLException e) {
            out.printf(
                    "%s is not YAML: line %d: %s%n",
                    arguments[2], e.getProblemMark().getLine() + 1, e.getProblem());
            return USAGE;
        }
        // The image's beans are chosen when it is built; these are others.
        SpringProperties.setProperty(AotDetector.AOT_ENABLED, "false");
        try (var context =
                new SpringApplicationBuilder(ExplainConfiguration.class, GrammarConfiguration.class)
                        .web(WebApplicationType.NONE)
                        .logStartupInfo(false)
                        .run(properties(arguments))) {
            return context.getBean(ExplainCommand.class).explain(manifests) ? 0 : 1;
        } catch (BeansException e) {
            // Which option makes no sense, and what would, has been said where Spring says it.
            return USAGE;
        }
    }

    private static String read(String file) throws IOException {
        return file.equals("-")
                ? new String(System.in.readAllBytes(), UTF_8)
                : Files.readString(Path.of(file));
    }

    /** What is logged at a start is for logs, not for who asks about a manifest. */
    private static String[] properties(String[] arguments) {
        var properties = new ArrayList<String>();
        properties.add("--logging.level.root=ERROR");
        properties.addAll(List.of(arguments).subList(3, arguments.length));
        return properties.toArray(String[]::new);
    }
}
