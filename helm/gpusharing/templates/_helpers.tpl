{{/* Labels of every object; call with (dict "root" $ "component" "webhook"), for pods also with "podLabels". The site's own never replace ours. */}}
{{- define "gpusharing.labels" -}}
{{ include "gpusharing.selector" . }}
app.kubernetes.io/instance: {{ .root.Release.Name | quote }}
app.kubernetes.io/part-of: gpusharing
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- $theirs := merge (dict) (.podLabels | default dict) .root.Values.commonLabels }}
{{- range list "name" "component" "instance" "part-of" "version" "managed-by" }}{{ $theirs = omit $theirs (printf "app.kubernetes.io/%s" .) }}{{ end }}
{{- with omit $theirs "helm.sh/chart" }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* Labels and annotations of every object but pods; call as the one above, with "annotations" where it has some besides the site's, which do
not replace them. */}}
{{- define "gpusharing.metadata" -}}
labels:
  {{- include "gpusharing.labels" . | nindent 2 }}
  {{- range .aggregateTo }}
  rbac.authorization.k8s.io/aggregate-to-{{ . }}: "true"
  {{- end }}
{{- with merge (dict) (.annotations | default dict) .root.Values.commonAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "gpusharing.selector" -}}
app.kubernetes.io/name: gpusharing
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{/* registry/repository:tag or @digest; call with (dict "root" $ "image" .Values.webhook.image). */}}
{{- define "gpusharing.image" -}}
{{- with .root.Values.image.registry }}{{ if contains "://" . }}
{{- fail (printf "image.registry is %s: write the registry as it stands in an image's name, without %s://" . (splitList "://" . | first)) }}
{{- end }}{{ end -}}
{{- with .root.Values.image.registry }}{{ trimSuffix "/" . }}/{{ end }}{{ .image.repository }}
{{- if .image.digest }}@{{ .image.digest }}{{ else }}:{{ .image.tag | default .root.Chart.AppVersion }}{{ end }}
{{- end }}

{{/* Whether pods are placed by our own scheduler: on GPUs that our device plugin hands out, and on no others. */}}
{{- define "gpusharing.ownScheduler" -}}
{{- if and .Values.provider.enabled (eq .Values.scheduler.mode "Own") }}true{{ end }}
{{- end }}

{{/* Whether the cluster's own scheduler asks our extender. */}}
{{- define "gpusharing.networkExtender" -}}
{{- if and .Values.provider.enabled (eq .Values.scheduler.mode "Extender") }}true{{ end }}
{{- end }}

{{/* Whether our extender places pods, whichever scheduler asks it, and by which name that one is known to them. */}}
{{- define "gpusharing.places" -}}
{{- include "gpusharing.ownScheduler" . }}{{ include "gpusharing.networkExtender" . }}
{{- end }}
{{- define "gpusharing.schedulerName" -}}
{{- if include "gpusharing.ownScheduler" . }}gpusharing-scheduler{{ else if include "gpusharing.networkExtender" . }}default-scheduler{{ end }}
{{- end }}

{{/* An image without its tag. */}}
{{- define "gpusharing.withoutTag" -}}
{{- regexReplaceAll ":[^:/]*$" . "" }}
{{- end }}

{{/* kube-scheduler's image; where none is said its tag is the cluster's version, as far as Helm knows it. */}}
{{- define "gpusharing.kubeSchedulerImage" -}}
{{- $image := .Values.scheduler.kubeScheduler.image }}
{{- $image }}
{{- if eq (include "gpusharing.withoutTag" $image) $image }}:{{ regexFind "^v[0-9]+[.][0-9]+[.][0-9]+(-(alpha|beta|rc)[.][0-9]+)?" .Capabilities.KubeVersion.Version }}{{ end }}
{{- end }}

{{/* A class is immutable: another value is another class. */}}
{{- define "gpusharing.class.inBudget" -}}
{{- include "gpusharing.class" (dict "name" "gpu-in-budget" "value" .Values.classes.inBudget.value "default" 0) }}
{{- end }}
{{- define "gpusharing.class.overBudget" -}}
{{- include "gpusharing.class" (dict "name" "gpu-over-budget" "value" .Values.classes.overBudget.value "default" -100) }}
{{- end }}
{{- define "gpusharing.class" -}}
{{- $value := int .value }}
{{- .name }}{{ if ne $value (int .default) }}-{{ if lt $value 0 }}minus-{{ sub 0 $value }}{{ else }}{{ $value }}{{ end }}{{ end }}
{{- end }}

{{/* Every resource that asks for a GPU, the site's own ones included, as JSON. */}}
{{- define "gpusharing.gpuResources" -}}
{{- $all := concat .Values.gpuResources (keys .Values.customResources | sortAlpha) }}
{{- $metagpu := list }}
{{- if has "metagpu" .Values.grammars }}
{{- range .Values.provider.metagpu }}
{{- $owner := include "gpusharing.grammarOf" .resource }}
{{- if not (or (empty $owner) (eq $owner "metagpu")) }}
{{- fail (printf "provider.metagpu names %s, which is the grammar %s's: choose a name of your own" .resource $owner) }}
{{- end }}
{{- if hasKey $.Values.customResources .resource }}
{{- fail (printf "provider.metagpu says that %d %s are a GPU: take it out of customResources" (int .unitsPerGpu) .resource) }}
{{- end }}
{{- /* cnvrg.io/metagpu is there by default, also where nobody may ask for it. */}}
{{- if ne .resource "cnvrg.io/metagpu" }}{{ $metagpu = append $metagpu .resource }}{{ end }}
{{- end }}
{{- end }}
{{- $all = concat $all $metagpu | uniq }}
{{- if not $all }}{{ fail "nothing would ask for a GPU: name a resource under gpuResources or customResources" }}{{ end }}
{{- $said := printf "grammars: [%s]" (join ", " .Values.grammars) }}
{{- range $name := .Values.gpuResources }}
{{- $owner := has $name $metagpu | ternary "metagpu" (include "gpusharing.grammarOf" $name) }}
{{- if not (or (has $owner $.Values.grammars) (hasKey $.Values.customResources $name) (and (hasSuffix "*" $name) (empty $owner))
      (and (eq $name "nvidia.com/gpu") (has "hami" $.Values.grammars))) }}
{{- fail (printf "gpuResources names %s, which is not read by %s: add its grammar%s, take it out, or give its worth under customResources (docs/requests.md has values for each provider)" $name $said (empty $owner | ternary "" (printf " (%s)" $owner))) }}
{{- end }}
{{- end }}
{{- range $grammar := .Values.grammars }}
{{- $seen := and (eq $grammar "metagpu") $metagpu }}
{{- range $name := $.Values.gpuResources }}
{{- if or (eq $grammar (include "gpusharing.grammarOf" $name)) (hasSuffix "*" $name) (and (eq $name "nvidia.com/gpu") (eq $grammar "hami")) }}{{ $seen = true }}{{ end }}
{{- end }}
{{- if not $seen }}
{{- fail (printf "grammars names %s, but gpuResources none of its resources, so its pods would pass unseen and uncharged (docs/requests.md has values for each provider)" $grammar) }}
{{- end }}
{{- end }}
{{- toJson $all }}
{{- end }}

{{/* The grammar that reads a resource, of nvidia.com/gpu the first of two; empty if none does. A prefix is NVIDIA's or of no grammar. */}}
{{- define "gpusharing.grammarOf" -}}
{{- if has . (list "tencent.com/vcuda-core" "tencent.com/vcuda-memory") }}vcuda
{{- else if has . (list "aliyun.com/gpu-mem" "aliyun.com/gpu-count") }}aliyun
{{- else if eq . "cnvrg.io/metagpu" }}metagpu
{{- else if or (has . (list "nvidia.com/gpu" "nvidia.com/gpu.shared")) (hasPrefix "nvidia.com/mig-" .) }}nvidia
{{- else if has . (list "nvidia.com/gpumem" "nvidia.com/gpumem-percentage" "nvidia.com/gpucores") }}hami
{{- end }}
{{- end }}

{{/* CEL: is the resource named by the variable `name` one that asks for a GPU? */}}
{{- define "gpusharing.cel.isGpu" -}}
{{- include "gpusharing.cel.isOneOfNames" (include "gpusharing.gpuResources" . | fromJsonArray) }}
{{- end }}

{{/* CEL: the same for a list of names. */}}
{{- define "gpusharing.cel.isOneOfNames" -}}
{{- $exact := list }}{{ $tests := list }}
{{- range . }}
{{- if hasSuffix "*" . }}{{ $tests = append $tests (printf "name.startsWith('%s')" (trimSuffix "*" .)) }}
{{- else }}{{ $exact = append $exact (printf "'%s'" .) }}{{ end }}
{{- end }}
{{- if $exact }}{{ $tests = prepend $tests (printf "name in [%s]" (join ", " $exact)) }}{{ end }}
{{- join " || " $tests }}
{{- end }}

{{/* Of the resources that ask for a GPU those of NVIDIA's own device plugin (true) or all others (false), as JSON. What the plugin hands
out needs nothing of ours, so its pods must not depend on us. */}}
{{- define "gpusharing.nvidiasResources" -}}
{{- $names := list }}
{{- range $name := include "gpusharing.gpuResources" .root | fromJsonArray }}
{{- if eq $.nvidias (eq "nvidia" (include "gpusharing.grammarOf" $name)) }}{{ $names = append $names $name }}{{ end }}
{{- end }}
{{- toJson $names }}
{{- end }}

{{/* The resources for which the scheduler makes a claim that may be for GPUs, as JSON. The devices of any class may be those of a named driver,
so every class that is asked for by its name counts, as every claim does. */}}
{{- define "gpusharing.claimedResources" -}}
{{- $names := list "deviceclass.resource.kubernetes.io/*" }}
{{- range .Values.gpuDrivers }}{{ $names = concat $names (.extendedResources | default list) }}{{ end }}
{{- toJson (uniq $names) }}
{{- end }}

{{/* CEL: does a container of the pod ask for one of these? Takes the names as JSON. */}}
{{- define "gpusharing.cel.asksFor" -}}
(object.spec.containers + object.spec.?initContainers.orValue([])).exists(c,
  [c.?resources.?limits.orValue({}), c.?resources.?requests.orValue({})].exists(amounts,
    amounts.exists(name, {{ include "gpusharing.cel.isOneOfNames" (fromJsonArray .) }})))
{{- end }}

{{/* CEL: may this pod hold GPUs? It asks for some, or, whatever it asks for, has our label. Call with (dict "root" $ "pod" "oldObject"). */}}
{{- define "gpusharing.cel.mayHoldGpus" -}}
('gpusharing.io/metered' in {{ .pod }}.metadata.?labels.orValue({}) ||
  {{ include "gpusharing.cel.asksForGpus" . | nindent 2 | trim }})
{{- end }}

{{/* CEL: does this pod ask for GPUs in any way that admission knows? Called as the one above. */}}
{{- define "gpusharing.cel.asksForGpus" -}}
{{- $names := include "gpusharing.gpuResources" .root | fromJsonArray }}
{{- if .root.Values.gpuDrivers }}{{ $names = concat $names (include "gpusharing.claimedResources" .root | fromJsonArray) }}
{{- .pod }}.spec.?resourceClaims.orValue([]).size() > 0 ||
{{ end }}
{{- include "gpusharing.cel.asksFor" (toJson $names) | replace "object." (printf "%s." .pod) }}
{{- end }}

{{/* CEL: does one of these users ask, or a member of one of these groups? Takes both as lists. */}}
{{- define "gpusharing.cel.isOneOf" -}}
request.userInfo.?username.orValue('') in {{ .users | toJson | replace "\"" "'" }} || request.userInfo.?groups.orValue([]).exists(g, g in {{ .groups | toJson | replace "\"" "'" }})
{{- end }}

{{/* CEL: is the key `k` one by which other providers' programs read where a pod was placed? Our scheduler writes them with the binding. */}}
{{- define "gpusharing.cel.isDialectKey" -}}
(k.startsWith('tencent.com/predicate-') || k == 'tencent.com/gpu-assigned' || k.startsWith('ALIYUN_COM_GPU_MEM_'))
{{- end }}

{{/* CEL: may the requesting user update budgets? */}}
{{- define "gpusharing.cel.isAdministrator" -}}
authorizer.group('gpusharing.io').resource('gpubudgets').check('update').allowed()
{{- end }}

{{/* Which pods may share a GPU by MPS; empty where none do. */}}
{{- define "gpusharing.mpsAcross" -}}
{{- if and .Values.provider.enabled (eq .Values.provider.mps.mode "Enabled") }}{{ .Values.provider.mps.shareAcross }}{{ end }}
{{- end }}

{{/* Labels of nodes where our device plugin runs: key=value, joined by commas. */}}
{{- define "gpusharing.providerLabels" -}}
{{- $labels := list }}
{{- range .Values.provider.nodeLabels }}{{ $labels = append $labels (printf "%s=%s" .key .value) }}{{ end }}
{{- join "," $labels }}
{{- end }}

{{/* Node selector terms for a list of labels, each of which is enough. */}}
{{- define "gpusharing.nodeSelectorTerms" -}}
{{- range . }}
- matchExpressions:
    - {key: {{ .key }}, operator: In, values: [{{ .value | quote }}]}
{{- end }}
{{- end }}

{{/* Own namespace and the excluded ones, by the label that the control plane itself keeps. */}}
{{- define "gpusharing.namespaceSelector" -}}
matchExpressions:
  - key: kubernetes.io/metadata.name
    operator: NotIn
    values:
      {{- range prepend .Values.excludedNamespaces .Release.Namespace | uniq }}
      - {{ . }}
      {{- end }}
  {{- with .Values.namespaceSelectorExpressions }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}

{{/* What every container of ours has; node agent and device plugin add nothing to it but the host's process ids and folders of the node. */}}
{{- define "gpusharing.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{- define "gpusharing.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{- define "gpusharing.pullSecrets" -}}
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- end }}

{{/* What the site's own resources are worth, as JSON: names with a slash fit into no variable of their own. */}}
{{- define "gpusharing.customResources" -}}
{{- $settings := dict }}
{{- range $name, $micros := .Values.customResources }}
{{- $_ := set $settings (printf "gpusharing.custom-resources[%s]" $name) (int64 $micros) }}
{{- end }}
{{- toJson $settings }}
{{- end }}

{{/* Settings as JSON, empty if there are none. */}}
{{- define "gpusharing.json" -}}
{{- $settings := merge (include "gpusharing.metagpuUnits" (dict "root" . "prefix" "gpusharing.metagpu-units") | fromJson) (include "gpusharing.customResources" . | fromJson) }}
{{- range $i, $driver := .Values.gpuDrivers }}
{{- $prefix := printf "gpusharing.claims.drivers[%d]" $i }}
{{- range $i, $class := $driver.deviceClasses }}
{{- $_ := set $settings (printf "%s.device-classes[%d]" $prefix $i) $class }}
{{- end }}
{{- range $i, $resource := $driver.extendedResources }}
{{- $_ := set $settings (printf "%s.extended-resources[%d]" $prefix $i) $resource }}
{{- end }}
{{- range $key, $value := dict "name" $driver.name "compute-capacity" $driver.computeCapacity "memory-capacity" $driver.memoryCapacity }}
{{- with $value }}{{ $_ := set $settings (printf "%s.%s" $prefix $key) . }}{{ end }}
{{- end }}
{{- end }}
{{- range $name, $value := .Values.sidecar.env }}
{{- $_ := set $settings (printf "gpusharing.sidecar.env[%s]" $name) $value }}
{{- end }}
{{- range $i, $kind := .Values.webhook.workloads.kinds }}
{{- $prefix := printf "gpusharing.workloads.kinds[%d]" $i }}
{{- $_ := set $settings (printf "%s.group" $prefix) $kind.apiGroup }}
{{- $_ := set $settings (printf "%s.kind" $prefix) $kind.kind }}
{{- $_ := set $settings (printf "%s.pods" $prefix) $kind.pods }}
{{- end }}
{{- if $settings }}{{ toJson $settings }}{{ end }}
{{- end }}

{{/* How many units of a resource are a GPU, as JSON: settings below a prefix, none where it is as the services have it by themselves. */}}
{{- define "gpusharing.metagpuUnits" -}}
{{- $settings := dict }}
{{- range .root.Values.provider.metagpu }}
{{- if not (and (eq .resource "cnvrg.io/metagpu") (eq (int .unitsPerGpu) 100) (eq (len $.root.Values.provider.metagpu) 1)) }}
{{- $_ := set $settings (printf "%s[%s]" $.prefix .resource) (int64 .unitsPerGpu) }}
{{- end }}
{{- end }}
{{- toJson $settings }}
{{- end }}

{{/* What our device plugin may offer, as JSON: a node chooses its dialect by a label. */}}
{{- define "gpusharing.offeredResources" -}}
{{- $offered := list "tencent.com/vcuda-core" "tencent.com/vcuda-memory" "aliyun.com/gpu-mem" "cnvrg.io/metagpu" }}
{{- range .Values.provider.metagpu }}{{ $offered = append $offered .resource }}{{ end }}
{{- uniq $offered | toJson }}
{{- end }}

{{/* What our device plugin offers on a node whose label chooses no other dialect. */}}
{{- define "gpusharing.installedResources" -}}
{{- if eq .Values.provider.dialect "metagpu" }}
{{- $names := list }}
{{- range .Values.provider.metagpu }}{{ $names = append $names .resource }}{{ end }}
{{- join "," $names }}
{{- else -}}
{{ get (dict "vcuda" "tencent.com/vcuda-core,tencent.com/vcuda-memory" "aliyun" "aliyun.com/gpu-mem") .Values.provider.dialect }}
{{- end }}
{{- end }}

{{/* What kube-scheduler reads. Of fewer nodes than all it would ask about a sample, and a pod would wait beside a GPU that it fits on. Its
own default of 60 requests a second would bind fewer pods than the cluster's scheduler does. */}}
{{- define "gpusharing.schedulerConfiguration" -}}
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection: {leaderElect: true, resourceName: gpusharing-scheduler, resourceNamespace: {{ .Release.Namespace }}}
clientConnection: {qps: 200, burst: 400}
percentageOfNodesToScore: 100
profiles:
  - schedulerName: gpusharing-scheduler
extenders:
  - urlPrefix: http://127.0.0.1:8889
    filterVerb: filter
    {{- if gt (int .Values.scheduler.candidates) 1 }}
    # As much as spreading and affinities, less than taints (3), twice as much as other scores.
    prioritizeVerb: prioritize
    weight: 2
    {{- end }}
    preemptVerb: preempt
    bindVerb: bind
    httpTimeout: 5s
    nodeCacheCapable: true
    # Without the extender nobody knows which GPU is free: pods wait until it answers.
    ignorable: false
    managedResources:
      {{- range include "gpusharing.offeredResources" . | fromJsonArray }}
      - {name: {{ . }}, ignoredByScheduler: false}
      {{- end }}
{{- end }}

{{/* For how long what was evicted and refused decides what reclaim does next, and a day more. */}}
{{- define "gpusharing.lookBack" -}}
{{- $longest := 0 }}
{{- range list .Values.reclaim.noReturn .Values.reclaim.insistAfter }}
{{- if . }}
{{- $unit := get (dict "s" 1 "m" 60 "h" 3600 "d" 86400) (trunc -1 .) }}
{{- $longest = max $longest (mul (regexFind "^[0-9]+" .) $unit) }}
{{- end }}
{{- end }}
{{- add $longest 86400 }}s
{{- end }}

{{/* Configuration that both services share. Spring binds GPUSHARING_A_B to the property gpusharing.a.b. */}}
{{- define "gpusharing.commonEnv" -}}
- name: GPUSHARING_RESOURCES
  value: {{ include "gpusharing.gpuResources" . | fromJsonArray | join "," | quote }}
- name: GPUSHARING_GRAMMARS
  value: {{ join "," .Values.grammars | quote }}
{{- with include "gpusharing.json" . }}
# What fits into no variable of its own: names with a slash, lists of lists.
- name: SPRING_APPLICATION_JSON
  value: {{ . | squote }}
{{- end }}
- name: GPUSHARING_CLASSES_INBUDGET
  value: {{ include "gpusharing.class.inBudget" . }}
- name: GPUSHARING_CLASSES_OVERBUDGET
  value: {{ include "gpusharing.class.overBudget" . }}
- name: GPUSHARING_BUDGETS_UNNAMEDNAMESPACES
  value: {{ .Values.budgets.unnamedNamespaces }}
{{- with .Values.excludedNamespaces }}
- name: GPUSHARING_BUDGETS_EXCLUDEDNAMESPACES
  value: {{ join "," . | quote }}
{{- end }}
{{- end }}

{{- define "gpusharing.probes" -}}
startupProbe:
  httpGet: {path: /livez, port: health}
  periodSeconds: 1
  failureThreshold: 120
livenessProbe:
  httpGet: {path: /livez, port: health}
  periodSeconds: 10
  timeoutSeconds: 3
  failureThreshold: 3
readinessProbe:
  httpGet: {path: /readyz, port: health}
  periodSeconds: 2
  timeoutSeconds: 2
  failureThreshold: 2
{{- end }}

{{- /* The API server's token as Kubernetes itself mounts it, but for ten minutes instead of an hour. Once a ServiceAccount was deleted, the
tokens of its pods are void, also if it is made anew, and the kubelet writes the next one only after four fifths of the time of the last. */}}
{{- define "gpusharing.apiToken.volume" -}}
- name: api-token
  projected:
    sources:
      - serviceAccountToken: {path: token, expirationSeconds: 600}
      - configMap: {name: kube-root-ca.crt, items: [{key: ca.crt, path: ca.crt}]}
      - downwardAPI: {items: [{path: namespace, fieldRef: {apiVersion: v1, fieldPath: metadata.namespace}}]}
{{- end }}

{{- define "gpusharing.apiToken.mount" -}}
- {name: api-token, mountPath: /var/run/secrets/kubernetes.io/serviceaccount, readOnly: true}
{{- end }}
