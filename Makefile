# Few targets, each one line of what you would type. make help shows them.
GO ?= go
BIN ?= $(CURDIR)/bin

.PHONY: help build demo site fleet-dev test race lint fuzz e2e lab lab-live release ci nightly clean

help: ## show this
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## /{printf "  %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## bin/pawl, bin/pawld, bin/pawl-agent and bin/pawl-lab
	CGO_ENABLED=0 $(GO) build -trimpath -o $(BIN)/pawl ./cmd/pawl
	CGO_ENABLED=0 $(GO) build -trimpath -o $(BIN)/pawld ./cmd/pawld
	CGO_ENABLED=0 $(GO) build -trimpath -o $(BIN)/pawl-agent ./cmd/pawl-agent
	$(GO) build -trimpath -o $(BIN)/pawl-lab ./cmd/pawl-lab

demo: build ## the server with a year of made-up history
	$(BIN)/pawld demo

site: ## the documentation as a website, in dist/site
	$(GO) run ./scripts/site dist/site

fleet-dev: ## a fleet on this machine until Ctrl-C: PostgreSQL, Temporal, pawld, an agent and a first gate
	./scripts/fleet-dev

test: ## the tests, quickly
	$(GO) test -short ./...

race: ## the tests with the race detector
	$(GO) test -race ./...

lint: ## golangci-lint, with the rules of .golangci.yml
	golangci-lint run ./...

fuzz: ## every fuzz target for FUZZTIME (10s)
	./scripts/fuzz $(or $(FUZZTIME),10s)

e2e: build ## the examples end to end, on this machine's devices
	PAWL=$(BIN)/pawl $(GO) test -count=1 -v ./e2e/...

lab: ## measure pawl itself, hours: PAGE=record only what that page of docs/lab says
	./scripts/lab $(PAGE)

lab-live: ## records 260 gates on this machine to 32 rounds each, two to three hours
	./scripts/lab judge-live

release: ## the files of VERSION, in dist/VERSION, and their lines for checksums.txt
	@$(GO) run ./scripts/release $(or $(VERSION),VERSION) dist/$(VERSION)

ci: ## what CI runs
	./.ci/run

nightly: ## what is too long for CI, hours
	./scripts/nightly

clean: ## remove what the targets made
	rm -rf bin dist results
