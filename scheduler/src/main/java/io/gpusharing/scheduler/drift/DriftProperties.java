package io.gpusharing.scheduler.drift;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * What is compared.
 *
 * @param watched whether annotations, grants and pods are compared; not where nobody asks us to
 *     place pods, and so nobody writes down where they are
 */
@ConfigurationProperties("gpusharing.scheduler.drift")
record DriftProperties(@DefaultValue("true") boolean watched) {}
