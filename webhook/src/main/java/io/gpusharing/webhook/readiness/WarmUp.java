package io.gpusharing.webhook.readiness;

import static java.nio.charset.StandardCharsets.UTF_8;

/** What we ask ourselves. */
final class WarmUp {

    /**
     * The first handshakes of a JVM are slow, up to a tenth of a second: they are not for users.
     */
    static final int HANDSHAKES = 10;

    /** Reviews without a connection. */
    static final int REHEARSALS = 200;

    /** A pod that goes the whole way: judged, stamped and completed. It is a dry run. */
    static final byte[] REVIEW =
            """
            {"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"self-review",
            "kind":{"group":"","version":"v1","kind":"Pod"},"resource":{"group":"","version":"v1","resource":"pods"},
            "namespace":"gpusharing-self-review","operation":"CREATE","userInfo":{"username":"gpusharing-webhook"},
            "object":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"self-review"},"spec":{"containers":[
            {"name":"main","image":"main","resources":{
            "limits":{"cpu":"1","memory":"1Gi","tencent.com/vcuda-core":"50","tencent.com/vcuda-memory":"15"},
            "requests":{"cpu":"1","memory":"1Gi","tencent.com/vcuda-core":"50","tencent.com/vcuda-memory":"15"}}}]}},
            "dryRun":true}}
            """
                    .getBytes(UTF_8);

    private WarmUp() {}
}
