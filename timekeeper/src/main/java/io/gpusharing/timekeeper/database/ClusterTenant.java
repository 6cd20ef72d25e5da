package io.gpusharing.timekeeper.database;

import java.util.Map;
import org.hibernate.cfg.MultiTenancySettings;
import org.hibernate.context.spi.CurrentTenantIdentifierResolver;
import org.springframework.boot.hibernate.autoconfigure.HibernatePropertiesCustomizer;
import org.springframework.stereotype.Component;

/**
 * The cluster whose rows entities are. Hibernate writes it into each entity's {@code @TenantId} and
 * adds it to each query, so that no query can forget it.
 */
@Component
public class ClusterTenant
        implements CurrentTenantIdentifierResolver<String>, HibernatePropertiesCustomizer {

    private final ClusterDatabase database;

    public ClusterTenant(ClusterDatabase database) {
        this.database = database;
    }

    @Override
    public String resolveCurrentTenantIdentifier() {
        return database.cluster();
    }

    @Override
    public boolean validateExistingCurrentSessions() {
        return false;
    }

    @Override
    public void customize(Map<String, Object> properties) {
        properties.put(MultiTenancySettings.MULTI_TENANT_IDENTIFIER_RESOLVER, this);
    }
}
