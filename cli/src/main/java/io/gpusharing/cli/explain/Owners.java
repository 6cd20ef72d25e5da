package io.gpusharing.cli.explain;

import static java.util.Objects.requireNonNullElse;

import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.PartialObjectMetadata;
import io.gpusharing.cli.cluster.ApiKind;
import io.gpusharing.cli.cluster.ApiKinds;
import io.gpusharing.cli.cluster.Cluster;
import io.gpusharing.cli.cluster.Kind;
import io.gpusharing.cli.cluster.NotInstalled;
import io.gpusharing.cli.console.Failure;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * What belongs to an object of a namespace: whatever names it as its owner, or an owner of which
 * that is true. What an operator puts between the object and its pods need not be known here: of
 * each kind that turns up on the way, all objects of the namespace are listed once, by their
 * metadata alone.
 */
final class Owners {

    private final Cluster cluster;
    private final ApiKinds kinds;
    private final String namespace;
    private final String owner;
    private final Map<String, Map<String, PartialObjectMetadata>> listed = new HashMap<>();
    private final Set<String> notListed = new TreeSet<>();

    /**
     * @param owner UID of the object
     * @param pods all pods of the namespace: one may own others, too
     */
    Owners(
            Cluster cluster,
            ApiKinds kinds,
            String namespace,
            String owner,
            List<PartialObjectMetadata> pods) {
        this.cluster = cluster;
        this.kinds = kinds;
        this.namespace = namespace;
        this.owner = owner;
        listed.put(key("v1", "Pod"), byUid(pods));
    }

    /** Whether an object belongs to it. */
    boolean own(PartialObjectMetadata object) {
        return own(object, new HashSet<>());
    }

    /** Whether what is named so is the object, or belongs to it. */
    boolean isOrOwns(String apiVersion, String kind, String uid) {
        return isOrOwns(apiVersion, kind, uid, new HashSet<>());
    }

    /** Which kinds on the way were not listed, in a sentence; empty if there are none. */
    Optional<String> gap() {
        return notListed.isEmpty()
                ? Optional.empty()
                : Optional.of(
                        "You cannot list %s here, so pods that belong to it by one of those are not known to be its own"
                                .formatted(String.join(", ", notListed)));
    }

    /**
     * @param seen UIDs on the way: owners could go round in a circle
     */
    private boolean own(PartialObjectMetadata object, Set<String> seen) {
        for (OwnerReference it : owners(object)) {
            if (isOrOwns(it.getApiVersion(), it.getKind(), it.getUid(), seen)) {
                return true;
            }
        }
        return false;
    }

    private boolean isOrOwns(String apiVersion, String kind, String uid, Set<String> seen) {
        if (uid.equals(owner)) {
            return true;
        }
        if (!seen.add(uid)) {
            return false;
        }
        PartialObjectMetadata object =
                listed.computeIfAbsent(key(apiVersion, kind), _ -> list(apiVersion, kind)).get(uid);
        return object != null && own(object, seen);
    }

    private static List<OwnerReference> owners(PartialObjectMetadata object) {
        return requireNonNullElse(object.getMetadata().getOwnerReferences(), List.of());
    }

    private Map<String, PartialObjectMetadata> list(String apiVersion, String kind) {
        ApiKind known = kinds.of(apiVersion, kind).orElse(null);
        if (known == null) {
            return Map.of();
        }
        try {
            return byUid(
                    cluster.ask(
                            "list",
                            Kind.WORKLOADS,
                            client ->
                                    client.genericKubernetesResources(known.context())
                                            .inNamespace(namespace)
                                            .listAsPartialObjectMetadata()
                                            .getItems()));
        } catch (NotInstalled e) {
            return Map.of();
        } catch (Failure e) {
            // Others' kinds, whose own services may be away, are no reason to say nothing.
            notListed.add(known.plural());
            return Map.of();
        }
    }

    private static Map<String, PartialObjectMetadata> byUid(List<PartialObjectMetadata> objects) {
        var byUid = new HashMap<String, PartialObjectMetadata>();
        for (PartialObjectMetadata object : objects) {
            byUid.put(requireNonNullElse(object.getMetadata().getUid(), ""), object);
        }
        return byUid;
    }

    private static String key(String apiVersion, String kind) {
        return apiVersion + " " + kind;
    }
}
