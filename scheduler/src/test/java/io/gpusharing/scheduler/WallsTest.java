package io.gpusharing.scheduler;

import static com.tngtech.archunit.core.domain.JavaCall.Predicates.target;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.type;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.name;
import static com.tngtech.archunit.core.domain.properties.HasOwner.Predicates.With.owner;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.client.CustomResource;
import io.gpusharing.scheduler.preemption.Preemption;
import io.gpusharing.scheduler.reclaiming.plan.Decision;
import io.gpusharing.scheduler.victims.Choice;
import io.gpusharing.scheduler.victims.VictimSearch;
import java.time.Instant;
import java.util.List;

/** The walls of the scheduler. */
@AnalyzeClasses(
        packages = "io.gpusharing.scheduler",
        importOptions = ImportOption.DoNotIncludeTests.class)
class WallsTest {

    @ArchTest
    static final ArchRule packagesHaveNoCyclicDependencies =
            slices().matching("io.gpusharing.scheduler.(**)").should().beFreeOfCycles();

    @ArchTest
    static final ArchRule placingIsPure =
            noClasses()
                    .that()
                    .resideInAnyPackage(
                            "io.gpusharing.scheduler.gpus",
                            "io.gpusharing.scheduler.preemption",
                            "io.gpusharing.scheduler.victims")
                    .should()
                    .dependOnClassesThat(
                            resideInAnyPackage(
                                    "io.fabric8..",
                                    "io.gpusharing.kubernetes..",
                                    "org.springframework..",
                                    "java.net..",
                                    "java.nio.file.."));

    @ArchTest
    static final ArchRule planningIsPure =
            noClasses()
                    .that()
                    .resideInAnyPackage(
                            "io.gpusharing.scheduler.picture",
                            "io.gpusharing.scheduler.reclaiming.plan")
                    .should()
                    .dependOnClassesThat(
                            resideInAnyPackage(
                                            "org.springframework..",
                                            "io.fabric8.kubernetes.client..")
                                    // The type of an object, without a client.
                                    .and(DescribedPredicate.not(type(CustomResource.class))));

    @ArchTest
    static final ArchRule onlyTheInjectedClockIsRead =
            noClasses()
                    .should()
                    .callMethod(Instant.class, "now")
                    .orShould()
                    .callMethod(System.class, "currentTimeMillis");

    @ArchTest static final ArchRule oneSearchChoosesVictims = madeIn(Choice.class, "VictimSearch");

    /** Each with its own order. */
    @ArchTest
    static final ArchRule preemptionAndReclaimAloneSearch =
            madeIn(VictimSearch.class, "Preemptions", "VictimSelector");

    @ArchTest
    static final ArchRule whoIsPreemptedWasSearched = madeIn(Preemption.class, "Preemptions");

    @ArchTest
    static final ArchRule whoIsReclaimedWasSearched =
            madeIn(Decision.Evict.class, "VictimSelector", "Evict");

    private static ArchRule madeIn(Class<?> choice, String... classes) {
        return noClasses()
                .that(DescribedPredicate.not(named(classes)))
                .should()
                .callConstructorWhere(target(owner(type(choice))))
                .because("one search chooses who has to go");
    }

    @ArchTest
    static final ArchRule oneClassSaysWhatAGangIs =
            noClasses()
                    .that(DescribedPredicate.not(named("Gangs")))
                    .should()
                    .callMethod(OwnerReference.class, "getKind");

    @ArchTest static final ArchRule oneClassEvicts = callIn("evict", "EvictionApi");

    /** Of objects by their kind: reservations that are over. */
    @ArchTest
    static final ArchRule nobodyDeletesPodsByTheirKind = callIn("delete", "ReservationSweep");

    /** Whatever is asked by a path: the first deletes pods, the others read or bind them. */
    @ArchTest
    static final ArchRule oneClassDeletesPods =
            callIn("raw", "EvictionApi", "PodLookup", "PodBinder");

    private static ArchRule callIn(String method, String... classes) {
        return noClasses()
                .that(DescribedPredicate.not(named(classes)))
                .should()
                .callMethodWhere(
                        target(owner(resideInAnyPackage("io.fabric8.."))).and(target(name(method))))
                .because("each pod that ends has a receipt");
    }

    private static DescribedPredicate<JavaClass> named(String... classes) {
        return DescribedPredicate.describe(
                String.join(" or ", classes), it -> List.of(classes).contains(it.getSimpleName()));
    }
}
