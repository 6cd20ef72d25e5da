package io.gpusharing.deviceplugin;

import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

@AnalyzeClasses(packages = "io.gpusharing.deviceplugin", importOptions = DoNotIncludeTests.class)
class WallsTest {

    /**
     * Each feature with those on which it may depend. A dependency that is not named here fails the
     * build.
     */
    @ArchTest
    static final ArchRule aFeatureDependsOnNamedFeaturesOnly =
            layeredArchitecture()
                    .consideringOnlyDependenciesInAnyPackage("io.gpusharing.deviceplugin..")
                    .layer("program")
                    .definedBy("io.gpusharing.deviceplugin")
                    .layer("disk")
                    .definedBy("io.gpusharing.deviceplugin.disk")
                    .layer("kubelet")
                    .definedBy("io.gpusharing.deviceplugin.kubelet..")
                    .layer("gpu")
                    .definedBy("io.gpusharing.deviceplugin.gpu")
                    .layer("dialect")
                    .definedBy("io.gpusharing.deviceplugin.dialect")
                    .layer("grant")
                    .definedBy("io.gpusharing.deviceplugin.grant")
                    .layer("cdi")
                    .definedBy("io.gpusharing.deviceplugin.cdi")
                    .layer("cluster")
                    .definedBy("io.gpusharing.deviceplugin.cluster")
                    .layer("runtime")
                    .definedBy("io.gpusharing.deviceplugin.runtime")
                    .layer("mps")
                    .definedBy("io.gpusharing.deviceplugin.mps..")
                    .layer("start")
                    .definedBy("io.gpusharing.deviceplugin.start")
                    .whereLayer("disk")
                    .mayNotAccessAnyLayer()
                    .whereLayer("runtime")
                    .mayOnlyAccessLayers("disk")
                    .whereLayer("kubelet")
                    .mayOnlyAccessLayers("disk")
                    .whereLayer("gpu")
                    .mayOnlyAccessLayers("disk")
                    .whereLayer("dialect")
                    .mayOnlyAccessLayers("gpu")
                    .whereLayer("grant")
                    .mayOnlyAccessLayers("disk", "gpu")
                    .whereLayer("cdi")
                    .mayOnlyAccessLayers("disk", "gpu")
                    .whereLayer("cluster")
                    .mayOnlyAccessLayers("gpu", "grant")
                    .whereLayer("mps")
                    .mayOnlyAccessLayers("disk", "gpu", "grant", "cdi", "cluster")
                    .whereLayer("start")
                    .mayOnlyAccessLayers(
                            "disk", "kubelet", "gpu", "dialect", "grant", "cdi", "cluster", "mps");

    @ArchTest
    static final ArchRule packagesHaveNoCyclicDependencies =
            slices().matching("io.gpusharing.deviceplugin.(**)").should().beFreeOfCycles();
}
