package io.gpusharing.scheduler.picture.reading;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Pod;
import org.junit.jupiter.api.Test;

class SnapshotJsonTest {

    private static final String POD =
            """
            {"metadata": {"name": "a", "namespace": "team-a", "annotations": {"gpusharing.io/standing": "InBudget"},
              "managedFields": [{"manager": "kubelet", "fieldsV1": {"f:status": {}}}]},
             "spec": {"nodeName": "node-1", "priority": 0, "nodeSelector": {"gpu": "yes"},
              "tolerations": [{"operator": "Exists"}],
              "affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "host"}]}},
              "volumes": [{"name": "data", "emptyDir": {}}],
              "containers": [{"name": "cuda", "command": ["train"], "env": [{"name": "A", "value": "1"}],
               "ports": [{"hostPort": 80, "containerPort": 80}], "volumeMounts": [{"name": "data", "mountPath": "/data"}],
               "resources": {"limits": {"tencent.com/vcuda-core": "50"}}}]}}
            """;

    private final Pod read = SnapshotJson.serialization().unmarshal(POD, Pod.class);

    @Test
    void whatDecidesAboutAPlaceIsRead() {
        assertThat(read.getMetadata().getAnnotations()).hasSize(1);
        assertThat(read.getSpec().getNodeSelector()).hasSize(1);
        assertThat(read.getSpec().getTolerations()).hasSize(1);
        assertThat(read.getSpec().getAffinity().getPodAntiAffinity()).isNotNull();
        assertThat(read.getSpec().getContainers().getFirst().getPorts()).hasSize(1);
    }

    @Test
    void unusedFieldsTakeNoMemory() {
        assertThat(read.getMetadata().getManagedFields()).isEmpty();
        assertThat(read.getSpec().getVolumes()).isEmpty();
        assertThat(read.getSpec().getContainers().getFirst().getEnv()).isEmpty();
        assertThat(read.getSpec().getContainers().getFirst().getVolumeMounts()).isEmpty();
    }
}
