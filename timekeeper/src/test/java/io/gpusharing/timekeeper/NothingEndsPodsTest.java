package io.gpusharing.timekeeper;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaCall;
import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

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

    /**
     * The client knows the kind of what it deletes at run time only; GpuEvictions deletes those.
     */
    @ArchTest
    static final ArchRule nothingDeletes =
            noClasses().should().callCodeUnitWhere(ofTheClient("delete"));

    private static DescribedPredicate<JavaCall<?>> ofTheClient(String method) {
        return describe(
                "it is the client's " + method,
                call ->
                        call.getName().startsWith(method)
                                && call.getTargetOwner().getPackageName().startsWith(CLIENT));
    }
}
