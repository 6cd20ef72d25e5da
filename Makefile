# `make` lists what can be asked for.
SHELL := /bin/bash
export JAVA_HOME := $(shell tools/jdk)
export PATH := $(JAVA_HOME)/bin:$(PATH)
MVN := mvn --batch-mode

.PHONY: help demo no-demo demo-stop node node-stop node-prerequisites e2e-node e2e-gpu a-gpu record real-nodes images load deployment cli cli-archives check test test-nodes test-all workflows chaos poison bench soak format tools-archive clean prerequisites

help: ## This list
	@sed -n 's/^\([a-z0-9-]*\):[^#]*## /\1\t/p' Makefile | expand -t 20

demo: prerequisites no-demo ## The whole story on a real control plane, in a minute; KEEP=1 leaves it running, KUBERNETES=1.30.14 runs it on that version
	@$(MAKE) --no-print-directory --jobs=2 kubernetes .run/main
	@colours=false; [ -t 1 ] && [ -z "$$NO_COLOR" ] && colours=true; \
	exec "$(JAVA_HOME)/bin/java" -Dcolours=$$colours -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -jar e2e/target/gpusharing-e2e.jar

no-demo:
	@[ ! -e .run/demo/keep ] || { echo "a demo is still running: 'make demo-stop' ends it" >&2; exit 1; }

# `kubernetes` is a folder, too.
.PHONY: kubernetes no-kubernetes
# The control plane, the one that KUBERNETES names too, built before anything else: on a slow machine for longer than anybody waits for a cluster.
kubernetes:
	@tools/cluster build

no-kubernetes:
	@[ -z "$(KUBERNETES)" ] || { echo "KUBERNETES=$(KUBERNETES): not with real nodes; their kubelet is built in the pinned version only" >&2; exit 1; }

demo-stop: ## End what KEEP=1 make demo left running
	@if [ -e .run/demo ]; then tools/cluster down .run/demo && echo "stopped"; else echo "no demo is running"; fi

node: real-nodes ## The same story on real nodes, in containers (Linux, root); KEEP=1 leaves it running
	@colours=false; [ -t 1 ] && [ -z "$$NO_COLOR" ] && colours=true; \
	exec tools/machine run .run/node "$(JAVA_HOME)/bin/java" -Dcolours=$$colours -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -jar e2e/target/gpusharing-e2e.jar

node-stop: ## End what KEEP=1 make node left running
	@if [ -e .run/node ]; then tools/machine end .run/node && echo "stopped"; else echo "no nodes are running"; fi

e2e-node: real-nodes ## The tests on real nodes: the story by real containers, charged to the second
	@tools/e2e-node

e2e-gpu: export GPU := $(or $(GPU),real)
e2e-gpu: a-gpu real-nodes ## The tests on this computer's own GPU: real containers, programs, MPS; GPU=fake tries the tests without one (Linux, root)
	@tools/images gpu-program
	@tools/e2e-gpu

a-gpu:
	@tools/e2e-gpu check || { echo "NOT RUN: make e2e-gpu" >&2; exit 1; }

record: real-nodes ## Record every life of a pod on real nodes anew, for the tests: ten minutes; LIVES=regex for some of them
	@exec tools/machine run .run/node "$(JAVA_HOME)/bin/java" -Dlives="$(or $(LIVES),.*)" -XX:TieredStopAtLevel=1 -XX:+UseSerialGC \
	  -cp e2e/target/gpusharing-e2e.jar io.gpusharing.e2e.recording.RecordLives

node-prerequisites: ## Install what real nodes need of Debian or Ubuntu: runc, CNI plugins, buildah and the like (root)
	apt-get update -qq
	DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends $$(tools/machine packages) buildah debootstrap busybox-static

# What a real node runs; where there can be none, why.
real-nodes: prerequisites no-kubernetes .run/built
	@tools/machine check || { echo "NOT RUN: make $(MAKECMDGOALS)" >&2; exit 1; }
	@[ ! -e .run/node/keep ] || { echo "nodes are still running: 'make node-stop' ends them" >&2; exit 1; }
	@tools/images
	@tools/images stand-ins

images: prerequisites .run/built ## The images, as archives in .run/images; REGISTRY=… TAG=… name them (docs/install.md)
	@tools/images

cli: prerequisites .run/built ## The plugin kubectl gpusharing, in .run/cli: put that folder on your PATH
	@rm -rf .run/cli
	@cli/assemble cli/target/gpusharing-cli-*.jar .run/cli

cli-archives: cli ## The same for other machines, in .run/archives; URL=… (from where they will be served) makes manifests for krew
	@rm -rf .run/archives
	@cli/archive .run/cli .run/archives $(URL)

load: ## Bring the images to TO=containerd, kind, k3s or registry
	@tools/images load "$(TO)"

deployment: ## deployment/ from the chart; with REGISTRY=…, TAG=…, KUBERNETES=… or VALUES=file your own, in .run/deployment
	@tools/build helm
	@helm/render

check: prerequisites ## What a change may break, before it is committed: formatting, compiler, unit tests, chart, links of the docs
	@tools/check change

test: prerequisites ## What can break and needs no root: Java, chart, manifests, the whole on a real control plane; ONLY='scheduler e2e:PlacementIT' runs these alone
	@if [ -n "$(ONLY)" ]; then tools/check only '$(ONLY)'; else tools/check test; fi

test-nodes: prerequisites no-kubernetes ## Images, and real containers on real nodes: charge, fractions, restart, removal (Linux, root)
	@tools/machine check && tools/images check || { echo "NOT RUN: make test-nodes" >&2; exit 1; }
	@tools/check nodes

test-all: prerequisites ## Both, and what neither runs: MPS, workflows, kills and objects at random, images built twice, other versions of Kubernetes; two hours
	@for part in test nodes rest; do tools/check $$part || failed="$$failed $$part"; done; [ -z "$$failed" ] || { echo "FAILED:$$failed" >&2; exit 1; }

workflows: prerequisites .run/built ## Workflows of Argo's own controller on one GPU and on MIG's instances; building that takes minutes, the first time
	@tools/build workflow-controller
	@tools/e2e workflows

chaos: prerequisites .run/built ## Kill timekeeper, database and what evicts at random while pods come, go and are evicted and budgets move; ten minutes
	@tools/e2e chaos

poison: prerequisites .run/built ## Two thousand objects that a reader may stumble over, and pods of others among them; half an hour
	@benchmarks/soak/poison

soak: prerequisites ## Bills, placements and fractions under load among hundreds of kills, each held against what really was, and simulations with many seeds; hours
	@tools/build
	@benchmarks/soak/run
	@benchmarks/soak/payers
	@benchmarks/soak/placement
	@benchmarks/soak/fractions
	@benchmarks/soak/mps
	@tools/checked
	@$(MVN) test -Dtest='*SimulationTest,*InvariantsTest,*PropertiesTest' -Dsurefire.failIfNoSpecifiedTests=false -Dseeds.factor=20

bench: prerequisites ## Every measurement, one after the other, over an hour (benchmarks/README.md)
	@OPTIMIZED=1 tools/build
	@tools/checked
	@$(MVN) --quiet package -DskipTests
	@! tools/machine check || { tools/images && tools/images stand-ins; }
	@for run in $(filter-out benchmarks/soak/run benchmarks/gpu/run benchmarks/cli/run,$(wildcard benchmarks/*/run)); do echo "== $$run"; "$$run" || failed="$$failed $$run"; done; \
	[ -z "$$failed" ] || { echo "FAILED:$$failed" >&2; exit 1; }

format: prerequisites ## Fix the formatting of the Java sources
	$(MVN) --quiet spotless:apply

tools-archive: ## Pack the test cluster's programs that are built, for other computers (TOOLS_FROM=…)
	@tools/archive

clean: ## Remove what was built, but not the tools
	rm -rf .run/built .run/main .run/build.log .run/services .run/images .run/containerd
	$(MVN) --quiet clean

prerequisites:
	@tools/prerequisites

# The jars, without tests; only when a source is newer. Those of the demo are a part of them, in less time.
SOURCES := $(shell find pom.xml {common,wire,placement,kubernetes,web,nvml,recount,embedded-postgres,webhook,timekeeper,sidecar,deviceplugin,scheduler,cli,e2e}/{pom.xml,src} -type f 2>/dev/null)
.run/built: $(SOURCES)
	@tools/package

.run/main: $(SOURCES)
	@$(MAKE) --question .run/built || tools/package main
	@touch $@
