package io.gpusharing.timekeeper;

import static com.tngtech.archunit.core.domain.JavaCall.Predicates.target;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.name;
import static com.tngtech.archunit.core.domain.properties.HasOwner.Predicates.With.owner;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static java.util.stream.Collectors.toSet;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.lang.ArchRule;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The wall between money and room: the timekeeper knows no free GPU, and ends no pod. */
class RoomWallTest {

    private static final String ROOT = "io.gpusharing.";

    /** All of ours on the class path, as Maven has resolved it. */
    private static final JavaClasses CLASSES =
            new ClassFileImporter()
                    .withImportOption(new DoNotIncludeTests())
                    .importPackages("io.gpusharing");

    /** What is not named here is not there: neither {@code placement} nor another service. */
    @Test
    void theClassPathHasMoneyAloneAndWhatBothSidesRead() {
        Set<String> modules =
                CLASSES.stream()
                        .map(JavaClass::getPackageName)
                        .filter(it -> it.startsWith(ROOT))
                        .map(it -> it.substring(ROOT.length()).split("\\.", 2)[0])
                        .collect(toSet());

        assertThat(modules)
                .contains("timekeeper", "wire")
                .isSubsetOf(
                        // Of the module common.
                        "budget",
                        "request",
                        "sharing",
                        "wire",
                        "kubernetes",
                        "web",
                        "recount",
                        "timekeeper");
    }

    @Test
    void nobodyIsEvicted() {
        callOnlyIn("evict").check(CLASSES);
    }

    /** Both delete objects of evictions: what the ledger has, and what is asked for no more. */
    @Test
    void noPodIsDeleted() {
        callOnlyIn("delete", "EvictionKeeper", "MemoryEvictionRequester").check(CLASSES);
    }

    /** The first writes one annotation of pods, the others write no pods. */
    @Test
    void podsGetNoticesAlone() {
        callOnlyIn("patch", "PodAnnotator", "AppliedStatus", "ApiServiceTrust").check(CLASSES);
        callOnlyIn("edit", "DefaultBudgets").check(CLASSES);
        callOnlyIn("update", "InjectionSwitch").check(CLASSES);
        for (String method : List.of("replace", "serverSideApply", "updateStatus", "editStatus")) {
            callOnlyIn(method).check(CLASSES);
        }
    }

    /** By a path everything could be asked for. */
    @Test
    void nothingIsAskedForByAPath() {
        callOnlyIn("raw").check(CLASSES);
    }

    private static ArchRule callOnlyIn(String method, String... classes) {
        return noClasses()
                .that()
                .resideInAPackage(ROOT + "timekeeper..")
                .and(DescribedPredicate.not(named(classes)))
                .should()
                .callMethodWhere(
                        target(owner(resideInAnyPackage("io.fabric8.."))).and(target(name(method))))
                .because("room alone says who goes");
    }

    private static DescribedPredicate<JavaClass> named(String... classes) {
        return DescribedPredicate.describe(
                String.join(" or ", classes), it -> List.of(classes).contains(it.getSimpleName()));
    }
}
