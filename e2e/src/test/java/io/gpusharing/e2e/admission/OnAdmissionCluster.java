package io.gpusharing.e2e.admission;

import io.gpusharing.e2e.cluster.Shared;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Gives a test class the one {@link AdmissionCluster} that all of them share. They come after every
 * other class, because that cluster ends only with the last test.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(OnAdmissionCluster.OfTheRun.class)
@Order(OnAdmissionCluster.LAST)
@interface OnAdmissionCluster {

    int LAST = Integer.MAX_VALUE - 10;

    /** Gives it to a class. */
    final class OfTheRun extends Shared<AdmissionCluster> {
        OfTheRun() {
            super(AdmissionCluster.class, AdmissionCluster::start);
        }
    }
}
