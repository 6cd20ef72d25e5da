package io.gpusharing.cli.cluster;

import static java.util.Objects.requireNonNullElse;

import io.fabric8.kubernetes.api.model.NamedContext;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.gpusharing.cli.console.Failure;
import io.gpusharing.kubernetes.ApiServerJson;
import java.io.File;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Which cluster, and as whom: the options that kubectl has. */
public final class ClusterOptions {

    @Option(
            names = "--kubeconfig",
            paramLabel = "FILE",
            description = "Instead of $KUBECONFIG or ~/.kube/config.")
    private @Nullable File kubeconfig;

    @Option(
            names = "--context",
            paramLabel = "NAME",
            description = "Instead of the current one of the kubeconfig.")
    private @Nullable String context;

    @Option(
            names = "--as",
            paramLabel = "USER",
            description = "As this user, for those who may impersonate.")
    private @Nullable String user;

    @Option(
            names = "--as-group",
            paramLabel = "GROUP",
            description = "As a member of this group, with --as; may be repeated.")
    private List<String> groups = new ArrayList<>();

    private final OidcLogin login = new OidcLogin("kubectl", Clock.systemUTC());

    /**
     * The cluster that the user means; nothing is asked of it yet.
     *
     * @throws Failure if there is no such context, or its login cannot be used
     */
    public Cluster connect() {
        if (user == null && !groups.isEmpty()) {
            throw new Failure("--as-group says more of a user; name one with --as");
        }
        Config found = loggedIn();
        EllipticKey.understood(found);
        // A user waits; whoever serves may be asked again a moment later.
        Config config =
                new ConfigBuilder(found)
                        .withRequestRetryBackoffLimit(2)
                        .withRequestRetryBackoffInterval(100)
                        // Two or three requests need none, and the AOT cache knows HTTP/1.1.
                        .withHttp2Disable(true)
                        .build();
        if (user != null) {
            config.setImpersonateUsername(user);
            config.setImpersonateGroups(groups.toArray(String[]::new));
        }
        // With a provider of tokens the client renews none itself.
        OidcLogin.token(found).ifPresent(token -> config.setOauthTokenProvider(() -> token));
        var connections = new EndingHttpClients();
        return new Cluster(
                client(config, connections),
                requireNonNullElse(found.getNamespace(), "default"),
                connections::end);
    }

    private static KubernetesClient client(Config config, EndingHttpClients connections) {
        try {
            return new KubernetesClientBuilder()
                    .withConfig(config)
                    .withHttpClientFactory(connections)
                    // Finds no kinds on the class path: those that are asked for are known.
                    .withKubernetesSerialization(
                            new KubernetesSerialization(ApiServerJson.mapper().build(), false))
                    .build();
        } catch (KubernetesClientException e) {
            // It says why in its cause alone.
            throw new Failure(
                    "Cannot use the certificates or the key that the kubeconfig names (%s)"
                            .formatted(
                                    e.getCause() == null
                                            ? e.getMessage()
                                            : e.getCause().getMessage()));
        }
    }

    private Config loggedIn() {
        Config config = config();
        if (expired(config)) {
            String problem = login.renew(kubeconfig == null ? null : kubeconfig.getPath(), context);
            config = config();
            if (expired(config)) {
                throw new Failure(
                        "Your login has expired, and kubectl has not renewed it: " + problem);
            }
        }
        return config;
    }

    private boolean expired(Config config) {
        return OidcLogin.token(config).map(login::expired).orElse(false);
    }

    private Config config() {
        if (kubeconfig != null && !kubeconfig.isFile()) {
            throw new Failure("There is no file %s; see --kubeconfig".formatted(kubeconfig));
        }
        Config config = read();
        // For an unknown one the client takes the current one.
        if (context != null
                && config.getContexts().stream().noneMatch(it -> it.getName().equals(context))) {
            throw new Failure(
                    "There is no context %s in the kubeconfig; there are %s"
                            .formatted(
                                    context,
                                    config.getContexts().stream()
                                            .map(NamedContext::getName)
                                            .collect(Collectors.joining(", "))));
        }
        if (config.getContexts().isEmpty()
                && config.getMasterUrl().startsWith(Config.DEFAULT_MASTER_URL)) {
            throw new Failure(
                    "No kubeconfig names a cluster; set KUBECONFIG, or name a file with --kubeconfig");
        }
        return config;
    }

    private Config read() {
        try {
            return kubeconfig == null
                    ? Config.autoConfigure(context)
                    : Config.fromKubeconfig(context, kubeconfig);
        } catch (RuntimeException e) {
            // Whatever the parser throws.
            throw new Failure(
                    "Cannot read the kubeconfig%s: %s"
                            .formatted(kubeconfig == null ? "" : " " + kubeconfig, e.getMessage()));
        }
    }
}
