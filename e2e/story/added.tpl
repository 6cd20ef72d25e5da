class        {{.spec.priorityClassName}} ({{.spec.priority}})
{{range $key, $value := .metadata.labels}}label        {{$key}}={{$value}}
{{end}}{{range $key, $value := .metadata.annotations}}annotation   {{$key}}={{$value}}
{{end}}{{range .spec.initContainers}}sidecar      {{.name}} ({{.image}}){{range .env}}
  env        {{.name}}{{end}}
{{end}}runs on      {{.spec.nodeName}} ({{.status.phase}})
