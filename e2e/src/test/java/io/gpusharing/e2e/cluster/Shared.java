package io.gpusharing.e2e.cluster;

import java.util.function.Supplier;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * Gives one thing that takes long to start to all test classes of a run that have it as a
 * parameter. It starts when the first of them asks for it, and is closed after the last test of
 * all.
 */
public abstract class Shared<T extends AutoCloseable> implements ParameterResolver {

    private final Class<T> type;
    private final Supplier<T> start;

    protected Shared(Class<T> type, Supplier<T> start) {
        this.type = type;
        this.start = start;
    }

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        return parameter.getParameter().getType() == type;
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        return context.getRoot()
                .getStore(Namespace.GLOBAL)
                .computeIfAbsent(type, wanted -> start.get(), type);
    }
}
