package io.gpusharing.sidecar;

import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

@AnalyzeClasses(packages = "io.gpusharing.sidecar", importOptions = DoNotIncludeTests.class)
class WallsTest {

    /**
     * Each feature with those on which it may depend. A dependency that is not named here fails the
     * build.
     */
    @ArchTest
    static final ArchRule aFeatureDependsOnNamedFeaturesOnly =
            layeredArchitecture()
                    .consideringOnlyDependenciesInAnyPackage("io.gpusharing.sidecar..")
                    .layer("program")
                    .definedBy("io.gpusharing.sidecar")
                    .layer("json")
                    .definedBy("io.gpusharing.sidecar.json")
                    .layer("usage")
                    .definedBy("io.gpusharing.sidecar.usage")
                    .layer("attribution")
                    .definedBy("io.gpusharing.sidecar.attribution")
                    .layer("meter")
                    .definedBy("io.gpusharing.sidecar.meter")
                    .layer("report")
                    .definedBy("io.gpusharing.sidecar.report")
                    .layer("metrics")
                    .definedBy("io.gpusharing.sidecar.metrics")
                    .whereLayer("json")
                    .mayNotAccessAnyLayer()
                    .whereLayer("usage")
                    .mayNotAccessAnyLayer()
                    .whereLayer("attribution")
                    .mayOnlyAccessLayers("json", "usage")
                    .whereLayer("meter")
                    .mayOnlyAccessLayers("usage", "attribution")
                    .whereLayer("report")
                    .mayOnlyAccessLayers("json", "usage")
                    .whereLayer("metrics")
                    .mayOnlyAccessLayers("usage", "attribution", "meter", "report");

    @ArchTest
    static final ArchRule packagesHaveNoCyclicDependencies =
            slices().matching("io.gpusharing.sidecar.(**)").should().beFreeOfCycles();
}
