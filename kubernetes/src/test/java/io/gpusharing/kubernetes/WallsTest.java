package io.gpusharing.kubernetes;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import java.time.Instant;

@AnalyzeClasses(packages = "io.gpusharing", importOptions = DoNotIncludeTests.class)
class WallsTest {

    @ArchTest
    static final ArchRule dependsOnCommonTheClientAndTheJavaLibraryOnly =
            classes()
                    .that()
                    .resideInAPackage("io.gpusharing.kubernetes..")
                    .should()
                    .onlyDependOnClassesThat()
                    .resideInAnyPackage(
                            "io.gpusharing",
                            "io.gpusharing.budget..",
                            "io.gpusharing.request..",
                            "io.gpusharing.sharing..",
                            "io.gpusharing.wire..",
                            "io.gpusharing.kubernetes..",
                            "io.fabric8.kubernetes..",
                            "com.fasterxml.jackson.annotation",
                            "org.jspecify.annotations",
                            "org.slf4j..",
                            // By which the client reads.
                            "tools.jackson.core..",
                            "tools.jackson.databind..",
                            "org.snakeyaml.engine.v2..",
                            "io.vertx.ext.web.client",
                            "java..")
                    .because("a command line uses it, too: no Spring and no database");

    @ArchTest
    static final ArchRule commonDoesNotDependOnIt =
            noClasses()
                    .that()
                    .resideOutsideOfPackage("io.gpusharing.kubernetes..")
                    .should()
                    .dependOnClassesThat()
                    .resideInAPackage("io.gpusharing.kubernetes..");

    @ArchTest
    static final ArchRule onlyTheInjectedClockIsRead =
            noClasses()
                    .that()
                    .resideInAPackage("io.gpusharing.kubernetes..")
                    .should()
                    .callMethod(Instant.class, "now")
                    .orShould()
                    .callMethod(System.class, "currentTimeMillis");
}
