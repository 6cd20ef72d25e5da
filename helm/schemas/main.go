// Makes the JSON schemas that kubeconform reads out of what an API server itself publishes under /openapi/v3, so that checking
// manifests needs no download and knows the very version that runs.
//
//	go run ./helm/schemas OUT FILE...
//
// Every object becomes strict: a field that the schema does not name is an error, unless the schema says that unknown fields are kept.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
)

type schema = map[string]any

func main() {
	log.SetFlags(0)
	if len(os.Args) < 3 {
		log.Fatal("usage: schemas OUT FILE...")
	}
	for _, file := range os.Args[2:] {
		if err := split(file, os.Args[1]); err != nil {
			log.Fatalf("%s: %v", file, err)
		}
	}
}

// split writes one file for each kind in a document of one group and version, named as kubeconform looks for it.
func split(file, out string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var document struct {
		Components struct {
			Schemas map[string]schema `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(text, &document); err != nil {
		return err
	}
	for _, s := range document.Components.Schemas {
		strict(s)
	}
	for name, s := range document.Components.Schemas {
		kinds, _ := s["x-kubernetes-group-version-kind"].([]any)
		// Types that belong to every group (DeleteOptions, Status) name many kinds; objects name one.
		if len(kinds) != 1 {
			continue
		}
		kind := kinds[0].(schema)
		whole, err := json.Marshal(schema{"$ref": "#/components/schemas/" + name, "components": document.Components})
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(out, fileName(kind)), whole, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// fileName is kubeconform's {{ .ResourceKind }}{{ .KindSuffix }}: kind, first label of the group, version.
func fileName(kind schema) string {
	group, _, _ := strings.Cut(kind["group"].(string), ".")
	if group != "" {
		group = "-" + group
	}
	return strings.ToLower(fmt.Sprintf("%s%s-%s.json", kind["kind"], group, kind["version"]))
}

// strict closes every object below a schema that lists its properties.
func strict(value any) {
	switch value := value.(type) {
	case schema:
		for _, part := range value {
			strict(part)
		}
		_, listed := value["properties"].(schema)
		_, open := value["additionalProperties"]
		if listed && !open && value["x-kubernetes-preserve-unknown-fields"] != true {
			value["additionalProperties"] = false
		}
	case []any:
		for _, part := range value {
			strict(part)
		}
	}
}
