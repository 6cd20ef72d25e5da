package io.gpusharing.benchmarks.timekeeper;

import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A metered pod as the API server would send it, five to six kilobytes of JSON with all that
 * concerns nobody here.
 *
 * @param number its teams and nodes follow from it
 */
record MeteredPod(int number, UUID uid, Instant created) {

    static final int TEAMS = Integer.getInteger("budgets", 20);
    static final int NODES = Integer.getInteger("nodes", 100);

    /** What each holds: half a GPU of compute, less of its memory. */
    static final long RATE = 500_000;

    private static final String FILLER = filler();

    static MeteredPod of(int number, Instant created) {
        return new MeteredPod(number, new UUID(0x4000L, 0x8000_0000_0000_0000L | number), created);
    }

    String namespace() {
        return "team-" + number % TEAMS;
    }

    String node() {
        return "node-" + number % NODES;
    }

    /**
     * @param scheduled null while it waits
     * @param finished null while it runs
     */
    String json(
            long version, @Nullable Instant scheduled, boolean runs, @Nullable Instant finished) {
        var text = new StringBuilder(6_000);
        text.append("{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"train-")
                .append(number)
                .append("\",\"namespace\":\"")
                .append(namespace())
                .append("\",\"uid\":\"")
                .append(uid)
                .append("\",\"resourceVersion\":\"")
                .append(version)
                .append("\",\"creationTimestamp\":\"")
                .append(created)
                .append(
                        "\",\"labels\":{\"app\":\"train\",\"gpusharing.io/metered\":\"true\"},\"annotations\":{\"gpusharing.io/request\":\"cuda/tencent.com/vcuda-core=50,cuda/tencent.com/vcuda-memory=15\",\"gpusharing.io/standing\":\"InBudget\",\"gpusharing.io/sidecar\":\"gpusharing-sidecar\",\"tencent.com/vcuda-core-limit\":\"50\"},\"managedFields\":")
                .append(FILLER)
                .append("},\"spec\":{");
        if (scheduled != null) {
            text.append("\"nodeName\":\"").append(node()).append("\",");
        }
        text.append(
                """
                "priorityClassName":"gpu-in-budget","priority":0,"schedulerName":"default-scheduler","restartPolicy":"Never","serviceAccountName":"default","terminationGracePeriodSeconds":30,"dnsPolicy":"ClusterFirst","enableServiceLinks":true,"preemptionPolicy":"PreemptLowerPriority","tolerations":[{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute","tolerationSeconds":300},{"key":"node.kubernetes.io/unreachable","operator":"Exists","effect":"NoExecute","tolerationSeconds":300}],"volumes":[{"name":"kube-api-access","projected":{"defaultMode":420,"sources":[{"serviceAccountToken":{"expirationSeconds":3607,"path":"token"}},{"configMap":{"name":"kube-root-ca.crt","items":[{"key":"ca.crt","path":"ca.crt"}]}}]}},{"name":"gpusharing-token","projected":{"sources":[{"serviceAccountToken":{"audience":"gpusharing-timekeeper","expirationSeconds":3600,"path":"token"}}]}}],"initContainers":[{"name":"gpusharing-sidecar","image":"gpusharing/sidecar:1","restartPolicy":"Always","env":[{"name":"GPUSHARING_TIMEKEEPER_URL","value":"https://gpusharing-timekeeper.gpusharing-system.svc"},{"name":"GPUSHARING_POD","valueFrom":{"fieldRef":{"apiVersion":"v1","fieldPath":"metadata.name"}}},{"name":"GPUSHARING_POD_UID","valueFrom":{"fieldRef":{"apiVersion":"v1","fieldPath":"metadata.uid"}}}],"volumeMounts":[{"name":"gpusharing-token","mountPath":"/var/run/secrets/gpusharing.io","readOnly":true}]}],"containers":[{"name":"cuda","image":"registry.example.com/train:1","command":["python","train.py","--epochs","10"],"env":[{"name":"A","value":"1"},{"name":"B","value":"2"}],"resources":{"limits":{"cpu":"4","memory":"16Gi","tencent.com/vcuda-core":"50","tencent.com/vcuda-memory":"15"},"requests":{"cpu":"4","memory":"16Gi","tencent.com/vcuda-core":"50","tencent.com/vcuda-memory":"15"}},"volumeMounts":[{"name":"kube-api-access","mountPath":"/var/run/secrets/kubernetes.io/serviceaccount","readOnly":true}]}]},"status":{"qosClass":"Burstable","phase":"%s"%s}}\
                """
                        .formatted(
                                finished != null ? "Succeeded" : runs ? "Running" : "Pending",
                                scheduled == null
                                        ? ""
                                        : ",\"conditions\":[{\"type\":\"PodScheduled\",\"status\":\"True\",\"lastTransitionTime\":\"%s\"},{\"type\":\"Initialized\",\"status\":\"True\",\"lastTransitionTime\":\"%1$s\"}]%s"
                                                .formatted(scheduled, containers(runs, finished))));
        return text.toString();
    }

    /** A running pod that asks for no GPU and carries no label of ours. */
    static String without(int number) {
        Instant now = Instant.EPOCH;
        return of(1_000_000 + number, now)
                .json(500, now, true, null)
                .replace("tencent.com/vcuda", "example.com/licence")
                .replace("gpusharing.io/metered", "example.com/tier");
    }

    private static String containers(boolean runs, @Nullable Instant finished) {
        if (!runs) {
            return "";
        }
        return finished == null
                ? ",\"containerStatuses\":[{\"name\":\"cuda\",\"ready\":true,\"restartCount\":0,\"image\":\"train\",\"imageID\":\"\",\"state\":{\"running\":{}}}]"
                : ",\"containerStatuses\":[{\"name\":\"cuda\",\"ready\":false,\"restartCount\":0,\"image\":\"train\",\"imageID\":\"\",\"state\":{\"terminated\":{\"exitCode\":0,\"reason\":\"Completed\",\"finishedAt\":\"%s\"}}}]"
                        .formatted(finished);
    }

    private static String filler() {
        var fields = new StringBuilder("{");
        for (int i = 0; i < 40; i++) {
            fields.append(i == 0 ? "" : ",")
                    .append("\"f:field-of-a-manager-")
                    .append(i)
                    .append("\":{\".\":{}}");
        }
        return "[{\"manager\":\"kubelet\",\"operation\":\"Update\",\"apiVersion\":\"v1\",\"fieldsType\":\"FieldsV1\",\"fieldsV1\":"
                + fields.append("}")
                + ",\"subresource\":\"status\"}]";
    }
}
