package io.gpusharing.deviceplugin.cluster;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;

/** Pods, as an API server writes them. */
final class TestPods {

    private TestPods() {}

    /** A pod of namespace {@code team} that asks for half a GPU and does not run yet. */
    static JsonObject half(String uid, String name) {
        return pod(uid, name, "Pending", "{\"waiting\":{\"reason\":\"ContainerCreating\"}}");
    }

    /** The same, running. */
    static JsonObject running(String uid, String name) {
        return pod(uid, name, "Running", "{\"running\":{\"startedAt\":\"2026-11-25T10:00:00Z\"}}");
    }

    /** The same, at its end. */
    static JsonObject failed(String uid, String name) {
        return pod(uid, name, "Failed", "{\"terminated\":{\"exitCode\":1}}");
    }

    private static JsonObject pod(String uid, String name, String phase, String state) {
        return JsonParser.parseString(
                        """
                        {"metadata":{"name":"%s","namespace":"team","uid":"%s",
                          "annotations":{"gpusharing.io/placement":"p","other.io/note":"n"}},
                         "spec":{"nodeName":"gpu-1","containers":[{"name":"cuda","resources":{
                          "limits":{"cpu":"2","tencent.com/vcuda-core":"50","tencent.com/vcuda-memory":"32"},
                          "requests":{"cpu":"1","tencent.com/vcuda-core":"50","tencent.com/vcuda-memory":"32"}}}]},
                         "status":{"phase":"%s","containerStatuses":[{"name":"cuda","state":%s}]}}
                        """
                                .formatted(name, uid, phase, state))
                .getAsJsonObject();
    }
}
