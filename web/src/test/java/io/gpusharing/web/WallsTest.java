package io.gpusharing.web;

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
    static final ArchRule dependsOnCommonAndKubernetesOnly =
            classes()
                    .that()
                    .resideInAPackage("io.gpusharing.web..")
                    .should()
                    .onlyDependOnClassesThat()
                    .resideInAnyPackage(
                            "io.gpusharing",
                            "io.gpusharing.kubernetes..",
                            "io.gpusharing.web..",
                            "io.fabric8.kubernetes..",
                            "io.micrometer.core.instrument",
                            "com.github.benmanes.caffeine..",
                            "jakarta.servlet..",
                            "org.apache.catalina..",
                            "org.apache.coyote..",
                            "org.apache.tomcat..",
                            "org.bouncycastle..",
                            "org.jspecify.annotations",
                            "org.slf4j..",
                            "org.springframework..",
                            "tools.jackson..",
                            "java..",
                            "javax..");

    @ArchTest
    static final ArchRule commonAndKubernetesDoNotDependOnIt =
            noClasses()
                    .that()
                    .resideOutsideOfPackage("io.gpusharing.web..")
                    .should()
                    .dependOnClassesThat()
                    .resideInAnyPackage("io.gpusharing.web..", "org.springframework..");

    @ArchTest
    static final ArchRule onlyTheInjectedClockIsRead =
            noClasses()
                    .that()
                    .resideInAPackage("io.gpusharing.web..")
                    .should()
                    .callMethod(Instant.class, "now")
                    .orShould()
                    .callMethod(System.class, "currentTimeMillis");
}
