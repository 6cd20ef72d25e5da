package io.gpusharing.webhook.tls;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhookConfiguration;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingWebhookConfiguration;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.WebhookClientConfig;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.util.Base64;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The caBundle of our webhook configurations, by which API servers know us. */
final class CaBundles {

    private static final Logger log = LoggerFactory.getLogger(CaBundles.class);

    private final Resource<MutatingWebhookConfiguration> mutating;
    private final Resource<ValidatingWebhookConfiguration> validating;

    /**
     * @param name name of both configurations
     */
    CaBundles(KubernetesClient client, String name) {
        var api = client.admissionRegistration().v1();
        this.mutating = api.mutatingWebhookConfigurations().withName(name);
        this.validating = api.validatingWebhookConfigurations().withName(name);
    }

    /**
     * Writes the bundle wherever another one stands.
     *
     * @param bundle PEM
     * @return whether the mutating configuration is there, so that API servers find us; the
     *     validating one is optional
     */
    boolean write(String bundle) {
        String encoded = Base64.getEncoder().encodeToString(bundle.getBytes(UTF_8));
        MutatingWebhookConfiguration pods = mutating.get();
        if (pods != null) {
            patch(
                    mutating,
                    encoded,
                    pods.getWebhooks().stream().map(each -> each.getClientConfig()).toList());
        }
        ValidatingWebhookConfiguration workloads = validating.get();
        if (workloads != null) {
            patch(
                    validating,
                    encoded,
                    workloads.getWebhooks().stream().map(each -> each.getClientConfig()).toList());
        }
        return pods != null;
    }

    private static <T extends HasMetadata> void patch(
            Resource<T> configuration, String encoded, List<WebhookClientConfig> present) {
        List<String> operations =
                IntStream.range(0, present.size())
                        .filter(i -> !Objects.equals(present.get(i).getCaBundle(), encoded))
                        .mapToObj(i ->
                                "{\"op\":\"add\",\"path\":\"/webhooks/%d/clientConfig/caBundle\",\"value\":\"%s\"}"
                                        .formatted(i, encoded))
                        .toList();
        if (!operations.isEmpty()) {
            configuration.patch(
                    PatchContext.of(PatchType.JSON), "[" + String.join(",", operations) + "]");
            log.atInfo().addKeyValue("webhooks", operations.size()).log("caBundle written");
        }
    }
}
