package io.gpusharing.scheduler;

import io.gpusharing.AotCache;
import org.slf4j.LoggerFactory;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.context.properties.ConfigurationPropertiesScan;
import org.springframework.scheduling.annotation.EnableScheduling;

/**
 * The extender: beside a kube-scheduler, which asks it where pods with fractions go. It evicts
 * pods, too, also where nobody asks it anything.
 */
@SpringBootApplication
@ConfigurationPropertiesScan
@EnableScheduling
public class SchedulerApplication {

    /** Starts the service; all settings come from the environment. */
    public static void main(String[] arguments) {
        SpringApplication.run(SchedulerApplication.class, arguments);
        LoggerFactory.getLogger(SchedulerApplication.class)
                .atInfo()
                .addKeyValue("java", Runtime.version())
                .addKeyValue("aotCache", AotCache.ofThisProcess())
                .log("started");
    }
}
