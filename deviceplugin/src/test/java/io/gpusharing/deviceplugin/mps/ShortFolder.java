package io.gpusharing.deviceplugin.mps;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.extension.AnnotatedElementContext;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.io.TempDirFactory;

/** Folders whose sockets have short paths, wherever the build has its own. */
public final class ShortFolder implements TempDirFactory {

    @Override
    public Path createTempDirectory(AnnotatedElementContext element, ExtensionContext context)
            throws Exception {
        return Files.createTempDirectory(Path.of("/tmp"), "mps");
    }
}
