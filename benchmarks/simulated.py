"""A real control plane whose simulated nodes have eight GPUs each, and processes beside it that are watched from outside.

Of the programs that are compiled as they are released where there are some, or OPTIMIZED is set; else of the others in tools/.bin (tools/build).
"""
import atexit
import base64
import concurrent.futures
import http.client
import json
import math
import os
import pathlib
import signal
import ssl
import subprocess
import sys
import threading
import time
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[1]
if (ROOT / "tools/.bin/optimized/kube-apiserver").exists():
    os.environ["OPTIMIZED"] = "1"
BIN = ROOT / "tools/.bin" / ("optimized" if os.environ.get("OPTIMIZED") else "")
JAVA = pathlib.Path(os.environ.get("JAVA_HOME") or subprocess.check_output([ROOT / "tools/jdk"], text=True).strip()) / "bin/java"
OURS = "gpusharing-scheduler"
GPUS, MEMORY_UNITS, UNIT_MIB = 8, 60, 256
CLIENTS, IDLE_SECONDS = 12, 30


def run(*command, **options):
    command = [str(part) for part in command]
    try:
        return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE, **options).stdout
    except FileNotFoundError:
        sys.exit(f"{command[0]} is missing; build it first (OPTIMIZED=1 tools/build)")
    except subprocess.CalledProcessError as failed:
        # It has said itself why.
        sys.exit(f"{command[0]} ended with {failed.returncode}")


def await_that(what, holds, seconds=120, pause=0.2):
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            sys.exit(f"not within {seconds} s: {what}")
        time.sleep(pause)


def percentile(values, share):
    return sorted(values)[max(0, math.ceil(len(values) * share) - 1)] if values else None


def jar(module, suffix=""):
    """The module's jar, of whatever version."""
    found = list((ROOT / module / "target").glob(f"gpusharing-{module}-*{suffix}.jar"))
    if len(found) != 1:
        sys.exit(f"{module}: {len(found)} jars in its target folder; build it first (mvn -pl {module} -am package -DskipTests)")
    return found[0]


def assemble(module, built, folder):
    """The folder that the image of a module has, of a jar."""
    print(f"assembling the folder of the {module}'s image, with its AOT cache", flush=True)
    run(ROOT / module / "image/assemble", built, folder, stderr=subprocess.DEVNULL, env=os.environ | {"JAVA_HOME": str(JAVA.parent.parent)})


def java(module, image):
    """The command that the image of a module runs."""
    return [image / "java/bin/java", f"@{image}/jvm.options", run(ROOT / "tools/max-ram", module).strip(), f"-XX:AOTCache={image}/{module}.aot",
            "-jar", image / f"{module}.jar"]


class Process:
    """One that is watched from outside."""

    def __init__(self, pid):
        self.pid = pid

    def processor(self):
        """Seconds of processor time so far."""
        fields = pathlib.Path(f"/proc/{self.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def rss(self):
        """MiB of resident memory, and how much of it is no file's."""
        lines = dict(line.split(":", 1) for line in pathlib.Path(f"/proc/{self.pid}/status").read_text().splitlines())
        return {"rss_mib": round(int(lines["VmRSS"].split()[0]) / 1024), "of_it_anonymous_mib": round(int(lines["RssAnon"].split()[0]) / 1024)}


class Child(Process):
    """One of ours. It ends with us."""

    def __init__(self, command, log, environment=None):
        self.log, self.began = log, time.monotonic()
        with open(log, "w") as out:
            self.process = subprocess.Popen([str(part) for part in command], env=os.environ | (environment or {}), stdout=out, stderr=out)
        super().__init__(self.process.pid)
        atexit.register(self.stop)

    def await_ready(self, health):
        """Waits until it says that it is ready; returns the seconds that it took from its start."""
        while self.process.poll() is None and time.monotonic() < self.began + 120:
            try:
                connection = http.client.HTTPConnection("127.0.0.1", health, timeout=30)
                connection.request("GET", "/readyz")
                if connection.getresponse().status == 200:
                    return time.monotonic() - self.began
            except OSError:
                pass
            time.sleep(0.01)
        sys.exit(f"{self.log.stem} did not become ready:\n" + self.log.read_text()[-4000:])

    def stop(self):
        self.process.terminate()
        self.process.wait()


class Cluster:
    """A control plane whose nodes have eight GPUs each."""

    def __init__(self, work):
        self.dir = work / "cluster"
        self.kubeconfig = self.dir / "kubeconfig"
        run(ROOT / "tools/cluster", "up", self.dir, "--owner", os.getpid())
        self.kubectl("create", "-f", ROOT / "deployment/10-crds.yaml")
        self.kubectl("wait", "--for=condition=Established", "crd", "--all")
        self.kubectl("delete", "nodes", "--all")
        # It would follow every pod and place none.
        os.kill(self.plane("kube-scheduler").pid, signal.SIGTERM)
        config = json.loads(self.kubectl("config", "view", "--raw", "--flatten", "-o", "json"))
        user, cluster = config["users"][0]["user"], config["clusters"][0]["cluster"]
        for name in "certificate", "key":
            (work / name).write_bytes(base64.b64decode(user[f"client-{name}-data"]))
        self.tls = ssl._create_unverified_context()
        self.tls.load_cert_chain(work / "certificate", work / "key")
        self.server = urllib.parse.urlsplit(cluster["server"])
        self.connections = threading.local()
        self.audit = self.dir / "logs/audit.log"

    def plane(self, program):
        return Process(int((self.dir / f"kwok/clusters/gpusharing/pids/{program}.pid").read_text()))

    def kubectl(self, *arguments, **options):
        return run(BIN / "kubectl", "--kubeconfig", self.kubeconfig, *arguments, **options)

    def ask(self, method, path, body=None, content="application/json"):
        """On a kept connection of this thread."""
        api, last = getattr(self.connections, "api", (None, 0))
        # The API server closes one that is idle.
        if api is None or time.monotonic() > last + IDLE_SECONDS:
            api = http.client.HTTPSConnection(self.server.hostname, self.server.port, context=self.tls, timeout=120)
        api.request(method, path, body and json.dumps(body), {"Content-Type": content})
        answer = api.getresponse()
        text = answer.read()
        self.connections.api = api, time.monotonic()
        if answer.status // 100 != 2:
            raise OSError(f"{method} {path}: {answer.status} {text.decode()}")
        return json.loads(text)

    def all(self, do, things):
        """Several at once."""
        with concurrent.futures.ThreadPoolExecutor(CLIENTS) as clients:
            return list(clients.map(do, things))

    def namespace(self, name):
        self.kubectl("create", "namespace", name)
        self.kubectl("wait", "--for=create", "serviceaccount/default", "--namespace", name, "--timeout=60s")

    def nodes(self, names):
        amounts = {"cpu": "256", "memory": "2Ti", "pods": "250", "tencent.com/vcuda-core": str(GPUS * 100), "tencent.com/vcuda-memory": str(GPUS * MEMORY_UNITS)}
        self.all(lambda name: self.ask("POST", "/api/v1/nodes", {
            "metadata": {"name": name, "annotations": {"kwok.x-k8s.io/node": "fake"},
                         "labels": {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"}},
            "status": {"capacity": amounts, "allocatable": amounts}}), names)
        await_that("all nodes are ready", lambda: all(
            any(condition["type"] == "Ready" and condition["status"] == "True" for condition in node["status"].get("conditions", []))
            for node in self.ask("GET", "/api/v1/nodes?resourceVersion=0")["items"]), pause=2)
        # The controller would do the same for twenty a second.
        self.all(lambda name: self.ask("PATCH", f"/api/v1/nodes/{name}", {"spec": {"taints": None}}, "application/merge-patch+json"), names)

    def share(self, names):
        self.all(lambda name: self.ask("POST", "/apis/gpusharing.io/v1alpha1/gpunodes", {
            "apiVersion": "gpusharing.io/v1alpha1", "kind": "GpuNode", "metadata": {"name": name}}), names)
        self.describe(names, {})

    def describe(self, names, granted):
        """As device plugins would; granted is by GPU."""
        def one(name):
            gpus = [{"uuid": gpu(name, index), "index": index, "minor": index, "model": "Tesla T4", "memoryMiB": MEMORY_UNITS * UNIT_MIB,
                     "pciBusId": f"00000000:{index:02X}:00.0", "mig": False, "health": "Healthy",
                     "mode": "Shared" if granted.get(gpu(name, index)) else "Idle", "grants": granted.get(gpu(name, index), [])}
                    for index in range(GPUS)]
            self.ask("PATCH", f"/apis/gpusharing.io/v1alpha1/gpunodes/{name}/status",
                     {"status": {"tier": "TimeSlice", "resources": ["tencent.com/vcuda-core", "tencent.com/vcuda-memory"],
                                 "gpuCount": GPUS, "unhealthyCount": 0, "gpus": gpus}}, "application/merge-patch+json")

        self.all(one, names)

    def create(self, namespace, name, scheduler, core, memory, metered=None):
        """A pod; metered where our scheduler places it, or where that is said."""
        metered = scheduler == OURS if metered is None else metered
        labels = {"gpusharing.io/metered": "true"} if metered else {}
        limits = {"cpu": "100m", "memory": "64Mi", "tencent.com/vcuda-core": str(core), "tencent.com/vcuda-memory": str(memory)}
        return self.ask("POST", f"/api/v1/namespaces/{namespace}/pods", {
            "metadata": {"name": name, "labels": labels},
            "spec": {"schedulerName": scheduler, "containers": [{"name": "cuda", "image": "cuda", "resources": {"limits": limits}}]}})["metadata"]["uid"]

    def bind(self, namespace, name, uid, node, index, core):
        """As our scheduler would; returns the GPU, and what the node's device plugin says of it then."""
        self.ask("POST", f"/api/v1/namespaces/{namespace}/pods/{name}/binding", {
            "apiVersion": "v1", "kind": "Binding", "target": {"kind": "Node", "name": node},
            "metadata": {"name": name, "uid": uid, "annotations": {"gpusharing.io/placement": f"{uid};cuda={gpu(node, index)}"}}})
        return gpu(node, index), {"podUid": uid, "namespace": namespace, "pod": name, "container": "cuda", "kind": "App", "core": core,
                                  "memoryMiB": memory(core) * UNIT_MIB}

    def pods(self, namespace):
        return self.ask("GET", f"/api/v1/namespaces/{namespace}/pods?resourceVersion=0")["items"]

    def delete(self, namespace, name=""):
        self.ask("DELETE", f"/api/v1/namespaces/{namespace}/pods/{name}".rstrip("/"), {"gracePeriodSeconds": 0})


def gpu(node, index):
    return f"GPU-{node}-{index}"


def memory(core):
    return core * MEMORY_UNITS // 100
