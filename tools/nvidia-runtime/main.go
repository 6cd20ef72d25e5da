// What NVIDIA's container runtime does, as far as the meter can tell: a container whose NVIDIA_VISIBLE_DEVICES names a GPU finds the
// driver's libnvidia-ml.so.1. Then runc takes over. The library is the fake one that tools/node has put in the driver's place.
package main

import (
	"encoding/json"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

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
	var config map[string]any
	if err := json.Unmarshal(text, &config); err != nil {
		return err
	}
	if !seesGpus(config["process"].(map[string]any)["env"]) {
		return nil
	}
	mounts, _ := config["mounts"].([]any)
	config["mounts"] = append(mounts, map[string]any{
		"destination": "/usr/local/nvidia/lib64/libnvidia-ml.so.1",
		"source":      "/run/nvidia/libnvidia-ml.so.1",
		"type":        "bind",
		"options":     []string{"ro", "nosuid", "nodev", "bind"},
	})
	if text, err = json.Marshal(config); err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o600)
}

// The last one counts, as everywhere in an environment.
func seesGpus(environment any) bool {
	visible := ""
	list, _ := environment.([]any)
	for _, variable := range list {
		if value, found := strings.CutPrefix(variable.(string), "NVIDIA_VISIBLE_DEVICES="); found {
			visible = value
		}
	}
	return visible != "" && visible != "void" && visible != "none"
}
