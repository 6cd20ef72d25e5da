package io.gpusharing.wire;

import static com.tngtech.archunit.core.domain.JavaCall.Predicates.target;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.name;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import org.junit.jupiter.api.Test;

/** What passes between programs knows the words of requests and nothing else. */
class WallsTest {

    private static final JavaClasses CLASSES =
            new ClassFileImporter()
                    .withImportOption(new DoNotIncludeTests())
                    .importPackages("io.gpusharing.wire");

    @Test
    void itDependsOnTheJavaLibraryAndTheVocabularyOnly() {
        classes()
                .should()
                .onlyDependOnClassesThat()
                .resideInAnyPackage(
                        "io.gpusharing.wire..",
                        "io.gpusharing",
                        "io.gpusharing.request..",
                        "io.gpusharing.sharing..",
                        "java.lang",
                        "java.lang.annotation",
                        "java.lang.invoke",
                        "java.lang.runtime",
                        "java.math",
                        "java.time..",
                        "java.util",
                        "java.util.function",
                        "java.util.stream",
                        "com.fasterxml.jackson.annotation",
                        "org.jspecify.annotations")
                .because("no Spring, no HTTP, no Kubernetes client and no I/O belong here")
                .check(CLASSES);
    }

    @Test
    void itReadsNoClock() {
        noClasses().should().callMethodWhere(target(name("now"))).check(CLASSES);
    }
}
