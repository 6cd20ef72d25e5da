// What NVIDIA's container runtime does: a container whose NVIDIA_VISIBLE_DEVICES names GPUs finds their device nodes and the driver's files.
// Then runc takes over. GPUs and driver are the fake ones that tools/node gives a node, as in NVIDIA's legacy mode; or, where a specification
// of CDI in JSON describes this computer's own (GPU=real), what that says, as in NVIDIA's mode cdi.
package main

import (
	"encoding/json"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

const (
	driver = "/run/nvidia/driver"
	fake   = driver + "/fake"
	config = "/etc/nvidia-container-runtime/config.toml"
	real   = "/etc/cdi/nvidia.json"
)

// Whether only privileged containers may name GPUs.
var unprivilegedRefused = regexp.MustCompile(`(?m)^\s*accept-nvidia-visible-devices-envvar-when-unprivileged\s*=\s*false`)

type object = map[string]any

func main() {
	runc, err := exec.LookPath("runc")
	if err != nil {
		log.Fatal(err)
	}
	if slices.Contains(os.Args, "create") {
		if bundle := slices.Index(os.Args, "--bundle"); bundle > 0 {
			if err := prepare(filepath.Join(os.Args[bundle+1], "config.json")); err != nil {
				log.Fatal(err)
			}
		}
	}
	log.Fatal(syscall.Exec(runc, append([]string{"runc"}, os.Args[1:]...), os.Environ()))
}

func prepare(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var container object
	if err := json.Unmarshal(text, &container); err != nil {
		return err
	}
	visible := visibleDevices(container)
	if visible == "" || visible == "void" || visible == "none" || refused(container) {
		return nil
	}
	names := strings.Split(visible, ",")
	if specification, unreadable := os.ReadFile(real); unreadable == nil {
		err = applySpecification(container, specification, names)
	} else {
		err = addFakes(container, names)
	}
	if err != nil {
		return err
	}
	if text, err = json.Marshal(container); err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o600)
}

type edits struct {
	Env         []string
	DeviceNodes []struct{ Path, HostPath string }
	Mounts      []struct {
		HostPath, ContainerPath string
		Options                 []string
	}
	Hooks []struct {
		HookName, Path string
		Args, Env      []string
	}
}

func applySpecification(container object, text []byte, names []string) error {
	var specification struct {
		ContainerEdits edits
		Devices        []struct {
			Name           string
			ContainerEdits edits
		}
	}
	if err := json.Unmarshal(text, &specification); err != nil {
		return err
	}
	if err := apply(container, specification.ContainerEdits); err != nil {
		return err
	}
	for _, device := range specification.Devices {
		if slices.Contains(names, device.Name) {
			if err := apply(container, device.ContainerEdits); err != nil {
				return err
			}
		}
	}
	return nil
}

func apply(container object, change edits) error {
	process := container["process"].(object)
	for _, variable := range change.Env {
		environment, _ := process["env"].([]any)
		process["env"] = append(environment, variable)
	}
	for _, node := range change.DeviceNodes {
		host := node.HostPath
		if host == "" {
			host = node.Path
		}
		if err := addDevice(container, host, node.Path); err != nil {
			return err
		}
	}
	for _, mount := range change.Mounts {
		addMount(container, mount.HostPath, mount.ContainerPath, mount.Options...)
	}
	for _, hook := range change.Hooks {
		hooks, _ := container["hooks"].(object)
		if hooks == nil {
			hooks = object{}
			container["hooks"] = hooks
		}
		list, _ := hooks[hook.HookName].([]any)
		hooks[hook.HookName] = append(list, object{"path": hook.Path, "args": hook.Args, "env": hook.Env})
	}
	return nil
}

func addFakes(container object, names []string) error {
	libraries, _ := filepath.Glob(driver + "/usr/lib/*/libnvidia-ml.so.1")
	for _, library := range libraries {
		addMount(container, library, "/usr/local/nvidia/lib64/libnvidia-ml.so.1", legacy("ro")...)
	}
	addMount(container, driver+"/usr/bin/nvidia-smi", "/usr/bin/nvidia-smi", legacy("ro")...)
	// There a GPU's compute mode is kept, which whoever has every right may set.
	access := "ro"
	if privileged(container) {
		access = "rw"
	}
	addMount(container, fake, "/run/nvidia/fake", legacy(access)...)
	nodes := []string{"nvidiactl", "nvidia-uvm"}
	for index, gpu := range gpus() {
		if slices.Contains(names, "all") || slices.Contains(names, gpu.uuid) || slices.Contains(names, strconv.Itoa(index)) {
			nodes = append(nodes, "nvidia"+gpu.minor)
		}
	}
	for _, node := range nodes {
		if err := addDevice(container, filepath.Join(driver, "dev", node), "/dev/"+node); err != nil {
			return err
		}
	}
	return nil
}

// The last one counts, as everywhere in an environment.
func visibleDevices(container object) string {
	visible := ""
	list, _ := container["process"].(object)["env"].([]any)
	for _, variable := range list {
		if value, found := strings.CutPrefix(variable.(string), "NVIDIA_VISIBLE_DEVICES="); found {
			visible = value
		}
	}
	return visible
}

func refused(container object) bool {
	text, _ := os.ReadFile(config)
	return unprivilegedRefused.Match(text) && !privileged(container)
}

func privileged(container object) bool {
	capabilities, _ := container["process"].(object)["capabilities"].(object)
	bounding, _ := capabilities["bounding"].([]any)
	return slices.Contains(bounding, any("CAP_SYS_ADMIN"))
}

type gpu struct{ uuid, minor string }

// In the order of the node's NVML (tools/workshop/nvml.c).
func gpus() []gpu {
	text, _ := os.ReadFile(fake + "/gpus")
	var all []gpu
	for line := range strings.Lines(string(text)) {
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) < 2 || words[0] != "device" {
			continue
		}
		one := gpu{words[1], strconv.Itoa(len(all))}
		for _, word := range words[2:] {
			if minor, found := strings.CutPrefix(word, "minor="); found {
				one.minor = minor
			}
		}
		all = append(all, one)
	}
	return all
}

func legacy(access string) []string { return []string{access, "nosuid", "nodev", "bind"} }

func addMount(container object, source, destination string, options ...string) {
	mounts, _ := container["mounts"].([]any)
	container["mounts"] = append(mounts, object{
		"destination": destination,
		"source":      source,
		"type":        "bind",
		"options":     options,
	})
}

func addDevice(container object, host, path string) error {
	var found syscall.Stat_t
	if err := syscall.Stat(host, &found); err != nil {
		return err
	}
	// As glibc's major and minor of small numbers.
	major, minor := found.Rdev>>8&0xfff, found.Rdev&0xff
	linux := container["linux"].(object)
	devices, _ := linux["devices"].([]any)
	linux["devices"] = append(devices, object{
		"path": path, "type": "c", "major": major, "minor": minor, "fileMode": 0o666, "uid": 0, "gid": 0,
	})
	resources, _ := linux["resources"].(object)
	if resources == nil {
		resources = object{}
		linux["resources"] = resources
	}
	rules, _ := resources["devices"].([]any)
	resources["devices"] = append(rules, object{"allow": true, "type": "c", "major": major, "minor": minor, "access": "rwm"})
	return nil
}
