package io.gpusharing.timekeeper;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.context.properties.ConfigurationPropertiesScan;
import org.springframework.scheduling.annotation.EnableScheduling;

/** Starts the timekeeper. */
@SpringBootApplication
@ConfigurationPropertiesScan
@EnableScheduling
public class TimekeeperApplication {

    /** Runs until it is told to stop. */
    public static void main(String[] args) {
        SpringApplication.run(TimekeeperApplication.class, args);
    }
}
