package io.gpusharing.sidecar.attribution;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CgroupPathTest {

    private static final String UID = "0c5c2a52-6d0b-4b0a-9b7e-0a6f4b4b2f10";
    private static final String CID = "0123456789abcdef".repeat(4);

    /** UID, UID with underscores and container id stand as U, V and C. */
    @ParameterizedTest(name = "case 47: {0}")
    @CsvSource(
            delimiter = '|',
            value = {
                "0::/kubepods/podU/C|U|C",
                "0::/kubepods/burstable/podU/C|U|C",
                "0::/kubepods/besteffort/podU/C|U|C",
                "0::/kubepods.slice/kubepods-podV.slice/cri-containerd-C.scope|U|C",
                "0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-podV.slice/cri-containerd-C.scope|U|C",
                "0::/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-podV.slice/crio-C.scope|U|C",
                "0::/kubepods.slice/kubepods-podV.slice/crio-conmon-C.scope|U|C",
                "0::/kubepods.slice/kubepods-podV.slice/docker-C.scope|U|C",
                "0::/system.slice/containerd.service/kubepods-burstable-podV.slice:cri-containerd:C|U|C",
                "0::/docker/ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff/kubelet/kubepods/podU/C|U|C",
                "0::/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-podV.slice/cri-containerd-C.scope|U|C",
                "0::/podcafe/kubepods/podU/C|U|C",
                "0::/../../../kubepods-besteffort.slice/kubepods-besteffort-podV.slice/cri-containerd-C.scope|U|C",
                "0::/../cri-containerd-C.scope||C",
                "0::/|| ",
                "0::/user.slice/user-1000.slice/session-2.scope|| ",
                "0::/system.slice/docker.service|| ",
                "12:memory:/kubepods/burstable/podU/C;11:cpu,cpuacct:/kubepods/burstable/podU/C;1:name=systemd:/|U|C",
                "1:name=systemd:/;4:memory:/kubepods/podU/C|U|C",
                "0::/kubepods/pod0123456789abcdef0123456789abcdef/C|0123456789abcdef0123456789abcdef|C",
                "0::/kubepods/pod0c5c2a52-6d0b/C||C",
                "nonsense|| ",
            })
    void case47_everyFormNamesPodAndContainerOrNeither(String file, String uid, String cid) {
        CgroupPath path = CgroupPath.parse(fill(file).replace(';', '\n'));

        assertThat(path.podUid()).isEqualTo(fill(uid));
        assertThat(path.containerId()).isEqualTo(fill(cid));
    }

    private static String fill(@org.jspecify.annotations.Nullable String text) {
        return text == null
                ? ""
                : text.replaceAll("U(?![a-z])", UID)
                        .replaceAll("V(?![a-z])", UID.replace('-', '_'))
                        .replaceAll("C(?![a-z])", CID)
                        .strip();
    }
}
