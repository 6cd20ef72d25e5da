package io.gpusharing.timekeeper;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaCall;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import io.gpusharing.kubernetes.GpuEviction;

/** Who holds the accounts ends no pod: the timekeeper asks, and the scheduler's evictor acts. */
@AnalyzeClasses(
        packages = "io.gpusharing.timekeeper",
        importOptions = {DoNotIncludeTests.class, WallsTest.Written.class})
class NothingEndsPodsTest {

    private static final String CLIENT = "io.fabric8.kubernetes.client";

    @ArchTest
    static final ArchRule nothingEvicts =
            noClasses().should().callCodeUnitWhere(ofTheClient("evict"));

    @ArchTest
    static final ArchRule nothingAsksTheApiServerByHand =
            noClasses().should().callCodeUnitWhere(ofTheClient("raw"));

    /** The client knows the kind of what it deletes at run time only. */
    @ArchTest
    static final ArchRule whoDeletesKnowsEvictionsAndNoPods =
            noClasses()
                    .that(
                            describe(
                                    "know pods, or no GpuEviction",
                                    NothingEndsPodsTest::mayNotDelete))
                    .should()
                    .callCodeUnitWhere(ofTheClient("delete"));

    private static DescribedPredicate<JavaCall<?>> ofTheClient(String method) {
        return describe(
                "it is the client's " + method,
                call ->
                        call.getName().startsWith(method)
                                && call.getTargetOwner().getPackageName().startsWith(CLIENT));
    }

    private static boolean mayNotDelete(JavaClass it) {
        return !dependsOn(it, GpuEviction.class.getName())
                || dependsOn(it, "io.fabric8.kubernetes.api.model.Pod");
    }

    private static boolean dependsOn(JavaClass it, String name) {
        return it.getDirectDependenciesFromSelf().stream()
                .anyMatch(dependency -> dependency.getTargetClass().getName().equals(name));
    }
}
