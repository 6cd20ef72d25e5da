# What the three assemble scripts share; they read it with `.` after they have set $out, the folder to fill.
#
# An AOT cache is used only by the very runtime that made it, with jars of the same size and time at the same place. Hence one runtime
# per image, for the training and for the image, and one time for all files, for every build. A changed jar of the same size
# would then pass for the old one, and the old classes would run (of a class path of one jar, Java 25 does not even check the size): so a
# cache is never kept, but made again together with its jars. images/test shows both.

java_home=${JAVA_HOME:?names a JDK 25}
java=$out/java/bin/java
work=$(mktemp -d)
started=
trap 'for pid in $started; do kill "$pid" 2>/dev/null || true; done; rm -rf "$work"' EXIT

# runtime MODULES FLAG...: a Java runtime of these modules. Refuses a folder that has one.
runtime() {
    modules=$1
    shift
    mkdir -p "$out"
    "$java_home/bin/jlink" --add-modules "$modules" --no-header-files --no-man-pages "$@" --output "$out/java"
}

# extract JAR NAME: NAME.jar with its libraries beside it, and its bill of materials.
extract() {
    cp "$1" "$work/$2.jar"
    "$java_home/bin/java" -Djarmode=tools -jar "$work/$2.jar" extract --force --destination "$out" >/dev/null
    bill_of_materials "$out/$2.jar"
    # Classes of signed jars cannot be in an AOT cache, and are verified one by one at every start. What was checked when the jar was
    # built needs no signature here.
    for signed in "$out"/lib/bc*.jar; do
        test -e "$signed" || continue
        mkdir "$work/unsigned"
        (cd "$work/unsigned" && "$java_home/bin/jar" -xf "$signed" && rm -f META-INF/*.SF META-INF/*.RSA META-INF/*.DSA META-INF/*.EC)
        "$java_home/bin/jar" --create --file "$signed" --date=2026-01-01T00:00:00Z --manifest "$work/unsigned/META-INF/MANIFEST.MF" \
            -C "$work/unsigned" .
        rm -r "$work/unsigned"
    done
}

# bill_of_materials JAR: the one that Maven put into the jar, beside it.
bill_of_materials() {
    (cd "$work" && "$java_home/bin/jar" -xf "$1" META-INF/sbom/application.cdx.json)
    test -s "$work/META-INF/sbom/application.cdx.json" || fail "no bill of materials in $1: Maven puts it there unless it works --offline"
    mv "$work/META-INF/sbom/application.cdx.json" "$out/sbom.cdx.json"
}

# One time for all files. To be called before the training.
settle() {
    find "$out" -exec touch -h -d 2026-01-01T00:00:00Z {} +
}

# await WHAT COMMAND...: at most ten minutes, which two trainings beside each other do not take.
await() {
    what=$1
    shift
    tries=0
    until "$@"; do
        tries=$((tries + 1))
        test "$tries" -lt 6000 || fail "$what"
        sleep 0.1
    done
}

fail() {
    echo "assemble: $1" >&2
    test ! -e "$work/log" || tail -n 50 "$work/log" >&2
    exit 1
}

# kubeconfig PORT: of the training's API server.
kubeconfig() {
    cat >"$work/kubeconfig" <<END
apiVersion: v1
kind: Config
current-context: training
clusters: [{name: training, cluster: {server: "http://127.0.0.1:$1"}}]
users: [{name: training, user: {token: training}}]
contexts: [{name: training, context: {cluster: training, user: training}}]
END
}

# trained PID CACHE: ends the training run by SIGTERM, as a container ends, whereupon it writes the cache.
trained() {
    kill -TERM "$1"
    wait "$1" || test $? -eq 143
    test -s "$2" || fail "no AOT cache was written"
    touch -d 2026-01-01T00:00:00Z "$2"
}
