package io.gpusharing.e2e.installation;

import static java.util.Objects.requireNonNull;

import io.fabric8.kubernetes.api.model.ConfigMapKeySelector;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.EnvVarSource;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.LinkedHashMap;
import java.util.Map;

/** What kubelet would put into a container's environment. */
final class ContainerEnvironment {

    private ContainerEnvironment() {}

    /**
     * @throws IllegalStateException for a source that no manifest of ours uses yet
     */
    static Map<String, String> of(
            Container container, ObjectMeta pod, PodSpec spec, KubernetesClient client) {
        var environment = new LinkedHashMap<String, String>();
        for (EnvVar variable : container.getEnv()) {
            EnvVarSource source = variable.getValueFrom();
            environment.put(
                    variable.getName(),
                    source == null
                            ? variable.getValue() == null ? "" : variable.getValue()
                            : resolve(variable.getName(), source, pod, spec, client));
        }
        return environment;
    }

    private static String resolve(
            String name,
            EnvVarSource source,
            ObjectMeta pod,
            PodSpec spec,
            KubernetesClient client) {
        if (source.getConfigMapKeyRef() != null) {
            ConfigMapKeySelector wanted = source.getConfigMapKeyRef();
            return requireNonNull(
                    client.configMaps()
                            .inNamespace(pod.getNamespace())
                            .withName(wanted.getName())
                            .require()
                            .getData()
                            .get(wanted.getKey()),
                    name);
        }
        if (source.getFieldRef() == null) {
            throw new IllegalStateException(
                    "Only values, fields of the pod and ConfigMaps are known here, but "
                            + name
                            + " is "
                            + source);
        }
        return switch (source.getFieldRef().getFieldPath()) {
            case "metadata.namespace" -> pod.getNamespace();
            case "metadata.name" -> pod.getName();
            case "metadata.uid" -> pod.getUid();
            case "spec.nodeName" -> spec.getNodeName();
            case String annotation when annotation.startsWith("metadata.annotations['") ->
                    pod.getAnnotations()
                            .getOrDefault(annotation.substring(22, annotation.length() - 2), "");
            case String other ->
                    throw new IllegalStateException(name + " wants the field " + other);
        };
    }
}
