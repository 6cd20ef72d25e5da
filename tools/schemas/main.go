// Command schemas writes one JSON schema for each kind that this version of Kubernetes knows, for kubeconform, from the API
// description that the pinned k8s.io/kubernetes module carries: what is checked is what the test cluster runs, and nothing is fetched.
//
//	go run ./schemas SWAGGER DIR
package main

import (
	"encoding/json"
	"log"
	"os"
	"path/filepath"
	"strings"
)

type schema = map[string]any

const prefix = "#/definitions/"

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: schemas SWAGGER DIR")
	}
	text, err := os.ReadFile(os.Args[1])
	check(err)
	var swagger struct{ Definitions map[string]schema }
	check(json.Unmarshal(text, &swagger))
	for name, definition := range swagger.Definitions {
		tighten(name, definition)
	}
	check(os.MkdirAll(os.Args[2], 0o755))
	for name, definition := range swagger.Definitions {
		kinds, _ := definition["x-kubernetes-group-version-kind"].([]any)
		// Options of requests belong to every group; no manifest holds one.
		if len(kinds) != 1 {
			continue
		}
		needed := map[string]schema{}
		collect(swagger.Definitions, name, needed)
		document, err := json.Marshal(schema{"$ref": prefix + name, "definitions": needed})
		check(err)
		check(os.WriteFile(filepath.Join(os.Args[2], fileName(kinds[0].(schema))), document, 0o644))
	}
}

// fileName is kubeconform's {{.ResourceKind}}{{.KindSuffix}}.json.
func fileName(kind schema) string {
	parts := []string{kind["kind"].(string)}
	if group := kind["group"].(string); group != "" {
		parts = append(parts, strings.Split(group, ".")[0])
	}
	return strings.ToLower(strings.Join(append(parts, kind["version"].(string)), "-")) + ".json"
}

// tighten refuses fields that do not exist, and lets pass what JSON writes in more than one way.
func tighten(name string, definition schema) {
	if _, has := definition["properties"]; has {
		definition["additionalProperties"] = false
	}
	if strings.HasSuffix(name, ".util.intstr.IntOrString") || strings.HasSuffix(name, ".api.resource.Quantity") {
		delete(definition, "format")
		definition["type"] = []string{"string", "number"}
	}
}

// collect adds a definition and everything it refers to.
func collect(all map[string]schema, name string, into map[string]schema) {
	if _, known := into[name]; known {
		return
	}
	into[name] = all[name]
	walk(all[name], func(reference string) { collect(all, strings.TrimPrefix(reference, prefix), into) })
}

func walk(value any, found func(string)) {
	switch value := value.(type) {
	case schema:
		for key, member := range value {
			if reference, is := member.(string); is && key == "$ref" {
				found(reference)
			} else {
				walk(member, found)
			}
		}
	case []any:
		for _, member := range value {
			walk(member, found)
		}
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
