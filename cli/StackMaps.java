import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassFile.ClassHierarchyResolverOption;
import java.lang.classfile.ClassFile.StackMapsOption;
import java.lang.classfile.ClassFileVersion;
import java.lang.classfile.ClassHierarchyResolver;
import java.lang.classfile.ClassModel;
import java.lang.classfile.CodeTransform;
import java.lang.classfile.MethodModel;
import java.lang.classfile.MethodTransform;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.jar.JarOutputStream;

/**
 * Copies a jar, and gives classes of Java 5 and older, as picocli's, what newer ones have for their
 * verification: of classes without it an AOT cache keeps none, and each start would read and
 * verify them, the slow way.
 *
 * <p>Arguments are {@code JAR COPY}.
 */
final class StackMaps {

    /** JVMS 4.10: classes before this version are verified by inferring types. */
    private static final int TYPE_CHECKED = 50;

    public static void main(String[] args) throws IOException {
        Path jar = Path.of(args[0]);
        try (var in = new JarFile(jar.toFile());
                var out = new JarOutputStream(Files.newOutputStream(Path.of(args[1])));
                var classes =
                        new URLClassLoader(
                                new URL[] {jar.toUri().toURL()},
                                ClassLoader.getPlatformClassLoader())) {
            var reader =
                    ClassFile.of(
                            StackMapsOption.GENERATE_STACK_MAPS,
                            ClassHierarchyResolverOption.of(
                                    ClassHierarchyResolver.ofResourceParsing(classes)));
            for (JarEntry entry : Collections.list(in.entries())) {
                byte[] bytes = in.getInputStream(entry).readAllBytes();
                var copy = new JarEntry(entry.getName());
                copy.setTime(entry.getTime());
                out.putNextEntry(copy);
                out.write(entry.getName().endsWith(".class") ? checked(reader, entry, bytes) : bytes);
                out.closeEntry();
            }
        }
    }

    private static byte[] checked(ClassFile reader, JarEntry entry, byte[] bytes) {
        ClassModel model = reader.parse(bytes);
        if (model.majorVersion() >= TYPE_CHECKED) {
            return bytes;
        }
        try {
            return withStackMaps(reader, model);
        } catch (IllegalArgumentException e) {
            throw new IllegalStateException(entry.getName() + " cannot be given stack maps", e);
        }
    }

    private static byte[] withStackMaps(ClassFile reader, ClassModel model) {
        return reader.build(
                model.thisClass().asSymbol(),
                made -> {
                    made.withVersion(ClassFile.JAVA_8_VERSION, 0);
                    for (var element : model) {
                        if (element instanceof MethodModel method) {
                            made.transformMethod(
                                    method,
                                    MethodTransform.transformingCode(CodeTransform.ACCEPT_ALL));
                        } else if (!(element instanceof ClassFileVersion)) {
                            made.with(element);
                        }
                    }
                });
    }
}
