# Everything a contributor runs. Needs Go and make, and nothing else: other tools come from go.mod.

SHELL         := /bin/bash
.SHELLFLAGS   := -euo pipefail -c
.DEFAULT_GOAL := help

FUZZTIME  ?= 20s
BENCHTIME ?= 1s
TESTFLAGS ?=
TRACES    ?= ../shared/traces/spot

export CGO_ENABLED ?= 0

# A commit is stamped into the binary where git can read it, and never stands in the way of a build.
STAMP := $(shell git rev-parse HEAD >/dev/null 2>&1 && echo auto || echo false)
BUILD := go build -trimpath -buildvcs=$(STAMP) -ldflags '-s -w'

PLATFORMS := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64
GODIRS    := $(wildcard cmd data internal tools)

# Packages that start goroutines or share state; the race detector has nothing to find elsewhere.
CONCURRENT = $(shell grep -rlE '^\s*go [a-zA-Z_]|"sync"|"sync/atomic"|golang.org/x/sync' --include='*.go' internal | xargs -r -n1 dirname | sort -u | sed 's|^|./|')

.PHONY: help demo experiments build test check fmt lint arch race cross bench fuzz docs clean setup

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: build ## build, and plan the LoRA fine-tune of Llama-3.1-70B
	bin/rackrate plan -f examples/finetune-llama-3.1-70b.yaml

experiments: build ## the two experiments of docs/guides/paying.md (TRACES=where skypilot-org/spot-traces is)
	@[ -d '$(TRACES)' ] || { echo 'The second experiment plays recorded availability: clone github.com/skypilot-org/spot-traces, and give its folder as TRACES=...' >&2; exit 1; }
	@export TRACES='$(TRACES)'; sed -n 's/^\$$ rackrate /bin\/rackrate /p' docs/guides/paying.md | while read -r command; do \
	  echo "$$ $$command"; eval "$$command"; echo; \
	done

build: setup ## one static binary: bin/rackrate
	$(BUILD) -o bin/rackrate ./cmd/rackrate

test: setup lint ## all checks and all tests, as CI runs them
	@command -v glpsol >/dev/null || echo 'glpsol is missing, so one test is skipped (apt-get install glpk-utils)'
	@command -v postgres >/dev/null || compgen -G '/usr/lib/postgresql/*/bin/postgres' >/dev/null || \
	  echo 'PostgreSQL is missing, so the tests of the store on it are skipped (apt-get install postgresql)'
	go test $(TESTFLAGS) ./...
	@$(MAKE) --no-print-directory race

check: setup lint arch ## the quick round before a commit: under two minutes
	go test -short ./...

fmt: ## format every Go file
	gofmt -w $(GODIRS)

cross: setup ## static binaries for every platform: dist/
	@for p in $(PLATFORMS); do \
	  os=$${p%/*} arch=$${p#*/} out=dist/rackrate-$$os-$$arch; \
	  [ $$os = windows ] && out=$$out.exe; \
	  echo "$$out"; \
	  CGO_ENABLED=0 GOOS=$$os GOARCH=$$arch $(BUILD) -o $$out ./cmd/rackrate; \
	done

bench: setup ## benchmarks, with fixed seeds (BENCHTIME=1s)
	@{ grep -rl '^func Benchmark' --include='*_test.go' internal || true; } | xargs -r -n1 dirname | sort -u | sed 's|^|./|' | \
	  xargs -r go test -run '^$$' -bench . -benchmem -benchtime $(BENCHTIME)

fuzz: setup ## every fuzz target in turn (FUZZTIME=20s)
	@grep -rHoE '^func Fuzz\w+' --include='*_test.go' internal | sed -E 's/:func / /' | while read -r file target; do \
	  echo "$$target in $$(dirname $$file)"; \
	  go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) ./$$(dirname $$file) </dev/null; \
	done

docs: setup ## regenerate the command and workload reference in docs
	go run ./cmd/rackrate gen-docs docs

clean: ## remove what was built
	rm -rf bin dist

# The steps below make up the targets above.

setup:
	@command -v go >/dev/null || { \
	  echo 'Go is not installed. Get $(shell awk '/^go / { print $$2 }' go.mod) or newer from https://go.dev/dl/ and put its bin folder on PATH.' >&2; exit 1; }
	@go mod download

lint:
	@unformatted=$$(gofmt -l $(GODIRS)); [ -z "$$unformatted" ] || { echo "make fmt would change:"; echo "$$unformatted"; exit 1; }
	go vet ./...
	go tool staticcheck ./...

arch:
	go test ./internal/archtest

# The detector needs a C compiler. Long tests are cut short under it: it looks for races, not for answers.
race:
	@packages='$(CONCURRENT)'; \
	if [ -z "$$packages" ]; then \
	  echo 'race: no package shares state'; \
	elif [ -z "$$(command -v "$$(go env CC)" || true)" ]; then \
	  echo 'race: LEFT OUT, no C compiler here (apt-get install gcc libc6-dev)'; \
	  [ -z "$${CI:-}" ]; \
	else \
	  set -x; CGO_ENABLED=1 go test -race -short $$packages; \
	fi
