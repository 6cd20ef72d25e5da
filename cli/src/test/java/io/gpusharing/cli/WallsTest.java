package io.gpusharing.cli;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;

import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import java.time.Instant;

@AnalyzeClasses(packages = "io.gpusharing.cli", importOptions = DoNotIncludeTests.class)
class WallsTest {

    /** Each feature with those on which it may depend. */
    @ArchTest
    static final ArchRule aFeatureDependsOnNamedFeaturesOnly =
            layeredArchitecture()
                    .consideringOnlyDependenciesInAnyPackage("io.gpusharing.cli..")
                    .layer("program")
                    .definedBy("io.gpusharing.cli")
                    .layer("console")
                    .definedBy("io.gpusharing.cli.console")
                    .layer("cluster")
                    .definedBy("io.gpusharing.cli.cluster")
                    .layer("budget")
                    .definedBy("io.gpusharing.cli.budget")
                    .layer("ledger")
                    .definedBy("io.gpusharing.cli.ledger")
                    .layer("explain")
                    .definedBy("io.gpusharing.cli.explain")
                    .layer("inspect")
                    .definedBy("io.gpusharing.cli.inspect")
                    .whereLayer("console")
                    .mayNotAccessAnyLayer()
                    .whereLayer("cluster")
                    .mayOnlyAccessLayers("console")
                    .whereLayer("budget")
                    .mayOnlyAccessLayers("console", "cluster")
                    .whereLayer("ledger")
                    .mayOnlyAccessLayers("console", "cluster", "budget")
                    .whereLayer("explain")
                    .mayOnlyAccessLayers("console", "cluster", "budget")
                    .whereLayer("inspect")
                    .mayOnlyAccessLayers("console", "cluster");

    @ArchTest
    static final ArchRule onlyTheInjectedClockIsRead =
            noClasses()
                    .should()
                    .callMethod(Instant.class, "now")
                    .orShould()
                    .callMethod(System.class, "currentTimeMillis");
}
