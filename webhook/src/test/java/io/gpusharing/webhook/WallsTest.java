package io.gpusharing.webhook;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.core.importer.Location;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** Dependency rules of the project, as far as they concern the webhook. */
@AnalyzeClasses(
        packages = "io.gpusharing",
        importOptions = {DoNotIncludeTests.class, WallsTest.Written.class})
class WallsTest {

    /** Not what Spring generates beside our configurations when the jar is built. */
    static final class Written implements ImportOption {
        @Override
        public boolean includes(Location location) {
            return !location.contains("__");
        }
    }

    private static final DescribedPredicate<JavaClass> EDGE =
            DescribedPredicate.describe(
                    "the edge (configuration, servlet, connections, watches, health)",
                    each ->
                            each.getSimpleName()
                                            .matches(
                                                    ".*(Configuration|Properties|Mode|Application|Servlet|Watch|Check|Indicator|Drain|Analyzer)")
                                    || each.getPackageName().matches(".*\\.(tls|events|testing)"));

    private static final String ROOT = "io.gpusharing.webhook.";

    /**
     * Each feature with those on which it may depend. A dependency that is not named here fails the
     * build.
     */
    @ArchTest
    static final ArchRule aFeatureDependsOnNamedFeaturesOnly =
            layeredArchitecture()
                    .consideringOnlyDependenciesInAnyPackage("io.gpusharing.webhook..")
                    .layer("application")
                    .definedBy("io.gpusharing.webhook")
                    .layer("settings")
                    .definedBy(ROOT + "settings..")
                    .layer("review")
                    .definedBy(ROOT + "review..")
                    .layer("tls")
                    .definedBy(ROOT + "tls..")
                    .layer("events")
                    .definedBy(ROOT + "events..")
                    .layer("cluster")
                    .definedBy(ROOT + "cluster..")
                    .layer("decision")
                    .definedBy(ROOT + "decision..")
                    .layer("injection")
                    .definedBy(ROOT + "injection..")
                    .layer("policy")
                    .definedBy(ROOT + "policy..")
                    .layer("pod")
                    .definedBy(ROOT + "pod..")
                    .layer("template")
                    .definedBy(ROOT + "template..")
                    .layer("budget")
                    .definedBy(ROOT + "budget..")
                    .layer("admission")
                    .definedBy(ROOT + "admission..")
                    .layer("http")
                    .definedBy(ROOT + "http..")
                    .layer("readiness")
                    .definedBy(ROOT + "readiness..")
                    .whereLayer("settings")
                    .mayNotAccessAnyLayer()
                    .whereLayer("review")
                    .mayNotAccessAnyLayer()
                    .whereLayer("tls")
                    .mayOnlyAccessLayers("settings")
                    .whereLayer("events")
                    .mayOnlyAccessLayers("review")
                    .whereLayer("cluster")
                    .mayOnlyAccessLayers("settings")
                    .whereLayer("decision")
                    .mayOnlyAccessLayers("review")
                    .whereLayer("injection")
                    .mayOnlyAccessLayers("settings", "review", "cluster", "decision")
                    .whereLayer("policy")
                    .mayOnlyAccessLayers("settings", "review", "cluster", "decision")
                    .whereLayer("pod")
                    .mayOnlyAccessLayers("review", "cluster", "decision", "policy", "injection")
                    .whereLayer("template")
                    .mayOnlyAccessLayers(
                            "settings", "review", "cluster", "decision", "policy", "pod")
                    .whereLayer("budget")
                    .mayOnlyAccessLayers("settings", "review", "cluster", "decision")
                    .whereLayer("admission")
                    .mayOnlyAccessLayers(
                            "settings",
                            "review",
                            "cluster",
                            "events",
                            "decision",
                            "policy",
                            "injection",
                            "pod",
                            "template",
                            "budget")
                    .whereLayer("http")
                    .mayOnlyAccessLayers("review", "admission")
                    .whereLayer("readiness")
                    .mayOnlyAccessLayers("cluster", "tls", "admission");

    @ArchTest
    static final ArchRule theWebhookDependsOnNoOtherService =
            noClasses()
                    .that()
                    .resideInAPackage("io.gpusharing.webhook..")
                    .should()
                    .dependOnClassesThat()
                    .resideInAnyPackage("io.gpusharing.timekeeper..", "io.gpusharing.sidecar..");

    @ArchTest
    static final ArchRule decisionsUseNeitherSpringNorServlets =
            noClasses()
                    .that()
                    .resideInAPackage("io.gpusharing.webhook..")
                    .and(DescribedPredicate.not(EDGE))
                    .should()
                    .dependOnClassesThat()
                    .resideInAnyPackage("org.springframework..", "jakarta.servlet..");

    @ArchTest
    static final ArchRule readingAndDecidingUseNoClusterClient =
            noClasses()
                    .that()
                    .resideInAnyPackage(
                            "io.gpusharing.webhook.review..",
                            "io.gpusharing.webhook.decision..",
                            "io.gpusharing.webhook.template..",
                            "io.gpusharing.webhook.pod..",
                            "io.gpusharing.webhook.injection..")
                    .should()
                    .dependOnClassesThat()
                    .resideInAnyPackage("io.fabric8..", "java.net..");

    @ArchTest
    static final ArchRule decisionsReadNoClock =
            noClasses()
                    .that()
                    .resideInAPackage("io.gpusharing.webhook..")
                    .should()
                    .callMethod(java.time.Instant.class, "now")
                    .orShould()
                    .callMethod(System.class, "currentTimeMillis");

    @ArchTest
    static final ArchRule packagesHaveNoCyclicDependencies =
            slices().matching("io.gpusharing.webhook.(**)").should().beFreeOfCycles();

    @ArchTest
    static final ArchRule namesSayWhatAClassIs =
            classes()
                    .that()
                    .resideInAPackage("io.gpusharing.webhook..")
                    .should()
                    .haveNameNotMatching(
                            ".*(Manager|Helper|Util|Utils|Service|Handler|Processor|Impl)");
}
