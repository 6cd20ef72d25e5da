package io.gpusharing.scheduler.version;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.kubernetes.Rounds;
import io.gpusharing.scheduler.cluster.PromptClient;
import io.gpusharing.scheduler.version.SchedulerDeployment.Image;
import io.gpusharing.web.Parts;
import java.time.Clock;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/**
 * Gives the Deployment of which we are a part the kube-scheduler of the API server's version. We
 * start before it, so it may be one that cannot even be pulled. Every replica does this, and all
 * come to the same.
 */
@Component
@EnableConfigurationProperties(VersionProperties.class)
class VersionFollower {

    private static final Logger log = LoggerFactory.getLogger(VersionFollower.class);

    private final KubernetesClient client;
    private final VersionProperties properties;
    private final SchedulerDeployment deployment;
    private final Clock clock;
    private final VersionRule rule = new VersionRule();
    private final Rounds following;
    private String told = "";

    VersionFollower(
            KubernetesClient client, VersionProperties properties, Parts parts, Clock clock) {
        this.client = PromptClient.of(client);
        this.properties = properties;
        this.deployment = new SchedulerDeployment(this.client, properties);
        this.following = parts.part("version");
        this.clock = clock;
    }

    /** Looks which version the API server has, and changes the image if that is due. */
    @Scheduled(fixedDelay = 1, timeUnit = TimeUnit.MINUTES)
    void follow() {
        following.run(this::look);
    }

    private void look() {
        if (properties.deployment().isEmpty()) {
            return;
        }
        try {
            deployment.image().ifPresent(this::follow);
            deployment.giveUp();
        } catch (KubernetesClientException e) {
            tell("cannot look which kube-scheduler belongs to the API server: " + e.getMessage());
        }
    }

    private void follow(Image image) {
        String said = client.getKubernetesVersion().getGitVersion();
        Optional<KubernetesVersion> server = KubernetesVersion.parse(said);
        Optional<KubernetesVersion> runs = image.tag().flatMap(KubernetesVersion::parse);
        if (server.isEmpty() || runs.isEmpty()) {
            tell(
                    "the image of kube-scheduler is left as it is: its tag is %s and the API server's version %s, of which one is no release"
                            .formatted(image.tag().orElse("none"), said));
            return;
        }
        rule.next(runs.get(), server.get(), image.stuck().isPresent(), clock.instant())
                .ifPresentOrElse(
                        next -> change(image, next),
                        () ->
                                image.stuck()
                                        .ifPresentOrElse(
                                                why ->
                                                        tell(
                                                                "kube-scheduler %s does not start; the last one that ran stays: %s"
                                                                        .formatted(
                                                                                runs.get().tag(),
                                                                                why)),
                                                () -> told = ""));
    }

    private void change(Image image, KubernetesVersion next) {
        deployment.run(image.repository() + ":" + next.tag());
        log.atInfo()
                .addKeyValue("from", image.tag().orElse(""))
                .addKeyValue("to", next.tag())
                .log("kube-scheduler follows the API server's version");
    }

    /** Once, however often it is found. */
    private void tell(String what) {
        if (!what.equals(told)) {
            told = what;
            log.atWarn().log(what);
        }
    }
}
