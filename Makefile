# One entry point for people and CI: "make help" lists the targets.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules --no-print-directory
.DELETE_ON_ERROR:

# Of "make test": inputs (or the time) per fuzz target, and more flags for go test (say TESTFLAGS=-v).
FUZZTIME  ?= 5000x
TESTFLAGS ?=
# What "make bench" runs, and how often.
BENCH ?= .
COUNT ?= 1
# Of "make soak": rounds of the whole test suite, seconds per fuzz target, and cases of the seeded search.
ROUNDS   ?= 20
SOAKTIME ?= 60s
SEEDS    ?= 20000

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# Static, so that the binary runs on any host it is copied to. The revision is stamped where git
# may be asked for it (not in an archive, nor in a directory of somebody else's).
.PHONY: build
build: doctor ## build bin/ssmctl
	@vcs=false; if git rev-parse --verify -q HEAD >/dev/null 2>&1; then vcs=true; fi; \
	CGO_ENABLED=0 go build -trimpath -buildvcs=$$vcs -o bin/ssmctl ./cmd/ssmctl

# The README's command waits more than it works, so the fuzzers run beside it. The tests
# come last, so that the run ends with what go test says.
.PHONY: test
test: lint build ## everything that CI runs: linters, the README's command, fuzz targets for a moment, tests with the race detector
	@scripts/readme & readme=$$!; bad=0; scripts/fuzz $(FUZZTIME) || bad=1; wait $$readme || bad=1; exit $$bad
	@$(MAKE) mutants
	@go test -race -timeout 8m $(TESTFLAGS) ./...

.PHONY: mutants
mutants: doctor ## prove that the seeded search finds faults: each of its table is put into a core and must be found
	@go vet -tags mutants ./internal/sim/search
	@go test -tags mutants -run '^TestMutants$$' -count 1 ./internal/sim/search

.PHONY: lint
lint: doctor bin/golangci-lint bin/corelint ## vet, format, house rules, and a proof that these rules bite
	@go vet ./...
	@bin/golangci-lint run --allow-serial-runners ./...
	@bin/corelint
	@scripts/lint-selftest bin

.PHONY: fmt
fmt: bin/golangci-lint ## format all Go files
	@bin/golangci-lint fmt ./...

.PHONY: bench
bench: doctor ## run the benchmarks (BENCH=regexp COUNT=times)
	@go test -run '^$$' -bench '$(BENCH)' -benchmem -count $(COUNT) ./...

.PHONY: cover
cover: doctor ## coverage of all packages by all tests, per function and in bin/cover.html
	@mkdir -p bin
	@go test -covermode atomic -coverpkg ./... -coverprofile bin/cover.out ./...
	@go tool cover -html bin/cover.out -o bin/cover.html
	@go tool cover -func bin/cover.out | tail -n 1

.PHONY: fuzz
fuzz: doctor ## run each fuzz target (FUZZTIME=5000x, or a time such as 1m)
	@scripts/fuzz $(FUZZTIME)

.PHONY: soak
soak: doctor ## many rounds of all tests in random order, long fuzzing, a long seeded search, half an hour of each clean load under watch (ROUNDS=20 SOAKTIME=60s SEEDS=20000)
	@scripts/fuzz $(SOAKTIME)
	@go run ./cmd/ssmctl sim --search $(SEEDS) --out bin
	@go test -tags soak -run '^TestGuard' -count 1 -timeout 0 ./internal/sim
	@go test -race -shuffle on -count $(ROUNDS) -timeout 0 ./...

.PHONY: clean
clean: ## remove what the targets built; runs/ stays
	@rm -rf bin

.PHONY: doctor
doctor:
	@scripts/doctor

# The linters' versions are those of tools/go.mod, apart from the product's own dependencies.
bin/golangci-lint: tools/go.mod tools/go.sum | doctor
	@echo 'building golangci-lint (once, a minute or two)'
	@go build -C tools -trimpath -buildvcs=false -o ../bin/ github.com/golangci/golangci-lint/v2/cmd/golangci-lint \
	|| { echo 'cannot build the linter; with a network connection: go -C tools mod download' >&2; exit 1; }

bin/corelint: $(wildcard tools/corelint/*.go) tools/go.mod | doctor
	@go build -C tools -trimpath -buildvcs=false -o ../bin/ ./corelint
