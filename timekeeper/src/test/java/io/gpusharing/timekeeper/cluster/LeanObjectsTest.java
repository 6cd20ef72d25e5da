package io.gpusharing.timekeeper.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodList;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.gpusharing.kubernetes.PodReader;
import org.junit.jupiter.api.Test;

class LeanObjectsTest {

    private static final String POD =
            """
            {"apiVersion":"v1","kind":"Pod",
             "metadata":{"name":"a","namespace":"team-a","uid":"00000000-0000-4000-8000-000000000001","resourceVersion":"7",
              "creationTimestamp":"2026-03-01T10:00:00Z","annotations":{"gpusharing.io/standing":"InBudget"},
              "managedFields":[{"manager":"kubelet","operation":"Update","subresource":"status",
               "time":"2026-03-01T10:00:07Z","fieldsV1":{"f:status":{}}}]},
             "spec":{"nodeName":"node-1","priorityClassName":"gpu-in-budget","priority":0,
              "tolerations":[{"operator":"Exists"}],"nodeSelector":{"zone":"a"},"preemptionPolicy":"Never",
              "topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"zone"}],"terminationGracePeriodSeconds":600,
              "hostIPC":true,"overhead":{"cpu":"1"},"resources":{"limits":{"cpu":"2"}},"schedulingGates":[{"name":"later"}],
              "resourceClaims":[{"name":"gpu","resourceClaimName":"gpu-of-a"}],
              "affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"host"}]}},
              "volumes":[{"name":"data","emptyDir":{}}],
              "containers":[{"name":"cuda","image":"cuda:1","command":["train"],"env":[{"name":"A","value":"1"}],
               "ports":[{"hostPort":80,"containerPort":80}],"volumeMounts":[{"name":"data","mountPath":"/data"}],
               "resources":{"limits":{"tencent.com/vcuda-core":"50","tencent.com/vcuda-memory":"15"}}}]},
             "status":{"phase":"Running",
              "conditions":[{"type":"PodScheduled","status":"True","lastTransitionTime":"2026-03-01T10:00:05Z"}]}}
            """;

    private final Pod lean = LeanObjects.serialization().unmarshal(POD, Pod.class);

    @Test
    void fieldsForChargingAreReadAsFromFullObjects() {
        Pod whole = new KubernetesSerialization().unmarshal(POD, Pod.class);
        PodReader reader = new PodReader(name -> name.startsWith("tencent.com/"));

        assertThat(reader.read(lean)).isEqualTo(reader.read(whole));
    }

    @Test
    void noFieldThatSomebodyWroteEndsTheListThatItIsIn() {
        String deep = "{\"f:a\":".repeat(2_000) + "{}" + "}".repeat(2_000);
        String wide = "{\"f:" + "a".repeat(100_000) + "\":{}}";
        String pods =
                "{\"apiVersion\":\"v1\",\"kind\":\"PodList\",\"items\":["
                        + POD.replace("{\"f:status\":{}}", deep)
                        + ","
                        + POD.replace("{\"f:status\":{}}", wide)
                        + "]}";

        assertThat(LeanObjects.serialization().unmarshal(pods, PodList.class).getItems())
                .containsExactly(lean, lean);
    }

    @Test
    void unusedFieldsTakeNoMemory() {
        assertThat(lean.getMetadata().getManagedFields().getFirst().getFieldsV1()).isNull();
        assertThat(fields(lean.getSpec()))
                .containsExactlyInAnyOrder(
                        "containers",
                        "nodeName",
                        "priority",
                        "priorityClassName",
                        "resourceClaims",
                        "schedulingGates");
        assertThat(fields(lean.getSpec().getContainers().getFirst()))
                .containsExactlyInAnyOrder("name", "image", "resources");
    }

    /** What an object says, as whoever reads it whole would write it. */
    private static Iterable<String> fields(Object object) {
        var whole = new KubernetesSerialization();
        return whole.unmarshal(whole.asJson(object), GenericKubernetesResource.class)
                .getAdditionalProperties()
                .keySet();
    }
}
