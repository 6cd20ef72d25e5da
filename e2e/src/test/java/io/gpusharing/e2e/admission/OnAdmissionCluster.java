package io.gpusharing.e2e.admission;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * Gives a test class the one {@link AdmissionCluster} that all of them share. They come after every
 * other class, because that cluster ends only with the last test.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(OnAdmissionCluster.Share.class)
@Order(OnAdmissionCluster.LAST)
@interface OnAdmissionCluster {

    int LAST = Integer.MAX_VALUE - 10;

    /** Starts the cluster when the first class asks for it. */
    final class Share implements ParameterResolver {

        @Override
        public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
            return parameter.getParameter().getType() == AdmissionCluster.class;
        }

        @Override
        public AdmissionCluster resolveParameter(
                ParameterContext parameter, ExtensionContext context) {
            return context.getRoot()
                    .getStore(Namespace.GLOBAL)
                    .computeIfAbsent(
                            AdmissionCluster.class,
                            type -> AdmissionCluster.start(),
                            AdmissionCluster.class);
        }
    }
}
