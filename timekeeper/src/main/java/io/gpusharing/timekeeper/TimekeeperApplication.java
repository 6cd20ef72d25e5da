package io.gpusharing.timekeeper;

import io.gpusharing.AotCache;
import io.gpusharing.timekeeper.audit.VerifyCommand;
import java.util.List;
import org.slf4j.LoggerFactory;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.context.properties.ConfigurationPropertiesScan;

/** Starts the timekeeper. */
@SpringBootApplication
@ConfigurationPropertiesScan
public class TimekeeperApplication {

    /** Runs until it is asked to stop, or carries out the command {@code verify}. */
    public static void main(String[] args) {
        if (args.length > 0 && args[0].equals(VerifyCommand.NAME)) {
            System.exit(
                    VerifyCommand.run(
                            List.of(args).subList(1, args.length), System.in, System.out));
        }
        SpringApplication.run(TimekeeperApplication.class, args);
        LoggerFactory.getLogger(TimekeeperApplication.class)
                .atInfo()
                .addKeyValue("java", Runtime.version())
                .addKeyValue("aotCache", AotCache.ofThisProcess())
                .log("started");
    }
}
