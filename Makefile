# On a fresh machine: "make demo" runs the main job, "make test" the tests.
# "make check" is what else must hold before a change is taken; .ci/run calls
# its parts one by one.

GO ?= go
# For one package. The whole run is bounded by .ci/run.
TEST_TIMEOUT ?= 10m

.PHONY: build demo test ordinary check fmt vet staticcheck nocgo darwin race long arm64 fuzz wire side tools release check-release
.PHONY: bench-regress bench-pool bench-files bench-cost bench-causes bench-remote bench-scale clean

build:
	$(GO) build -o bin/muster ./cmd/muster

demo:
	@echo "== building muster (the first time takes a minute: SQLite is compiled)"
	@$(MAKE) --no-print-directory build
	@GO="$(GO)" scripts/demo

# Many tests wait, so more of them run at a time than there are processors. The packages that take longest
# begin first.
AT_ONCE = $(shell expr $$(getconf _NPROCESSORS_ONLN) + 2)
LONGEST = ./cmd/muster ./regress/internal/exec/local ./files/bucket ./test

# Tools that cannot be had make their tests skip, and long tests skip: 5 minutes on 2
# processors. MUSTER_REQUIRE=all is for a machine that is to prove something: nothing skips. Without vet,
# which has a target of its own and would take a tenth of the time.
test:
	@scripts/install-test-tools || { \
		test "$$MUSTER_REQUIRE" != all && \
		echo "make test: tests that need what is named above are skipped"; }
	$(GO) test $(if $(filter all,$(MUSTER_REQUIRE)),,-short) -vet=off -timeout $(TEST_TIMEOUT) \
		-p $(AT_ONCE) -parallel $(AT_ONCE) $(LONGEST) ./...

# As root: runs tests as an ordinary user. These packages and scripts depend on rights: they have lanes,
# modes and flags of files, mounts, limits or locks. MUSTER_REQUIRE does not apply: what needs root skips.
ORDINARY = ./fileio ./regress/doctor ./regress/internal/closure ./regress/internal/corpus \
	./regress/internal/exec/local ./regress/internal/forkserver ./regress/internal/golden \
	./regress/internal/plainfiles ./regress/internal/program ./regress/internal/state ./regress/internal/tool \
	./regress/internal/wholegolden ./regress/lane/...
ORDINARY_SCRIPTS = accept|check|corpora|doctor|environment|export|full|golden|golden_occupied|interrupt|kill|limits|lock|no_network|observe|outcome|place|record|replaced|resume_tool|run|scarce|serve|serve_engines|sources|state
ordinary:
	@GO="$(GO)" scripts/ordinary -short -timeout $(TEST_TIMEOUT) -p $(AT_ONCE) -parallel $(AT_ONCE) $(ORDINARY)
	@GO="$(GO)" scripts/ordinary -short -timeout $(TEST_TIMEOUT) -run '^TestScripts$$/^($(ORDINARY_SCRIPTS))$$' ./cmd/muster

check: fmt vet staticcheck nocgo darwin race side

fmt:
	@unformatted=$$(find . -name '*.go' -not -path '*/testdata/*' -not -path './build/*' \
		-exec "$$($(GO) env GOROOT)/bin/gofmt" -s -l {} +) && \
	if [ -n "$$unformatted" ]; then \
		echo "gofmt -s -w would change:"; echo "$$unformatted"; exit 1; fi

vet:
	$(GO) vet ./...

# Built from its own module, run in this one: "go tool" in tools/ would look
# at the packages of tools/.
staticcheck: tools
	bin/staticcheck ./...

# Tested where C has a part: the C pool's stub, SQLite, names of hosts and users, and how
# threads and processes begin. A release is built so too, and with -trimpath: it compiles little again.
NOCGO_SCRIPTS = environment|interrupt|kill|limits|load|lock|no_network|place|record|scarce|serve
nocgo:
	CGO_ENABLED=0 $(GO) build -trimpath ./...
	CGO_ENABLED=0 $(GO) test -trimpath -short -timeout $(TEST_TIMEOUT) ./fileio ./fileio/cthreads ./lab/native ./lab/probe \
		./regress/lane/... ./regress/internal/golden ./regress/internal/plainfiles
	CGO_ENABLED=0 $(GO) test -trimpath -short -timeout $(TEST_TIMEOUT) -run '^TestScripts$$/^($(NOCGO_SCRIPTS))$$' ./cmd/muster

# What is Linux only has a stub for the others; this proves that they compile.
darwin:
	GOOS=darwin $(GO) vet ./...

# Under the race detector everything is five to ten times slower. So CI plays the packages that start
# goroutines (a policy test compares the list), and few scripts; "make long" plays all. The scripts play
# exec/local too. GORACE: else each watched process ends a second late.
RACE = ./fileio/... ./files/... ./lab/native/contest ./lab/probe ./regress/check ./regress/decide \
	./regress/internal/analyse ./regress/internal/cause ./regress/internal/closure \
	./regress/internal/corpus ./regress/internal/crew ./regress/internal/exec/reapi \
	./regress/internal/exec/reapi/client ./regress/internal/golden ./regress/internal/keep \
	./regress/internal/observation ./regress/internal/pass ./regress/internal/report \
	./regress/internal/review/terminal ./regress/internal/review/web \
	./regress/internal/run ./regress/internal/shrink ./regress/internal/verdict
RACE_SCRIPTS = accept|check|flaky|interrupt|kill|lock|observe|record
race: export GORACE = atexit_sleep_ms=0
race:
	$(GO) test -race -timeout $(TEST_TIMEOUT) ./pool/...
	$(GO) test -race -short -timeout $(TEST_TIMEOUT) -p $(AT_ONCE) -parallel $(AT_ONCE) ./files/bucket ./files/cached $(RACE)
	$(GO) test -race -short -timeout $(TEST_TIMEOUT) -run '^Test[^S]|^TestScripts$$/^($(RACE_SCRIPTS))$$' ./cmd/muster

# What takes too long for every change.
# MUSTER_LONG: every byte, and all that strains a machine.
long: export GORACE = atexit_sleep_ms=0
long: export MUSTER_LONG = 1
# Races of large files in object stores write 130 GB each, at most 1 GB of it at a time.
long: MEMORY = $(shell test -d /dev/shm && echo /dev/shm || echo $${TMPDIR:-/tmp})
long:
	$(GO) test -race -short -timeout 30m ./lab/... ./cmd/... ./regress/...
	$(GO) test -count=1 -timeout 60m ./regress/internal/golden ./fileio/cthreads ./fileio/pooled ./fileio/uring ./cmd/muster
	scripts/object-stores install-minio
	MUSTER_REQUIRE=all TMPDIR=$(MEMORY) $(GO) test -count=1 -timeout 120m -run 'TestServers|TestStoreIsKilled' -v ./files/bucket
	MUSTER_REQUIRE=all $(GO) test -count=1 -timeout 60m -run TestLargeFile -v ./files/bucket
	$(GO) test -count=1 -timeout 30m -run TestResumeAfterAnyCut ./lab
	$(GO) test -count=1 -timeout 30m -run TestMixedChanges -v ./regress/internal/cause -mixes 10
	$(GO) test -count=1 -timeout 30m -run TestKills -v ./test -kills 200
	$(GO) test -count=1 -timeout 480m -v ./test/faults -trials 0 -serve-rounds 300
	$(GO) test -count=1 -timeout 30m -run 'TestManyCases|TestLargeCase' -v ./test -cases 200000 -case-size 2147483648
	$(GO) test -count=1 -timeout 120m -run TestNobodyStarves ./files -simulations 3000
	$(GO) test -count=1 -timeout 120m -run 'TestOracle$$' -v ./regress/internal/oracle -rounds 100000
	$(GO) test -count=1 -timeout 120m -run TestMutations -v ./regress/internal/oracle -mutations all

# Tests of lanes on an emulated arm64 machine: 5 minutes. Needs Debian with qemu-system-arm and cpio.
arm64:
	@GO="$(GO)" scripts/arm64

# What reads input of others. What is found belongs into testdata/fuzz, with its mend.
FUZZTIME ?= 3m
fuzz:
	$(GO) test -run - -fuzz FuzzArchive -fuzztime $(FUZZTIME) ./regress/internal/corpus
	$(GO) test -run - -fuzz FuzzOpen -fuzztime $(FUZZTIME) ./regress/internal/golden
	$(GO) test -run - -fuzz FuzzRecord -fuzztime $(FUZZTIME) ./regress/internal/golden
	$(GO) test -run - -fuzz FuzzImport -fuzzminimizetime 10x -fuzztime $(FUZZTIME) ./regress/internal/plainfiles
	$(GO) test -run - -fuzz FuzzDecode -fuzztime $(FUZZTIME) ./fileio
	$(GO) test -run - -fuzz FuzzMessages -fuzztime $(FUZZTIME) ./files
	$(GO) test -run - -fuzz FuzzConfigJSON -fuzztime $(FUZZTIME) ./cmd/muster
	$(GO) test -run - -fuzz 'FuzzConfig$$' -fuzztime $(FUZZTIME) ./cmd/muster
	$(GO) test -run - -fuzz FuzzEdits -fuzztime $(FUZZTIME) ./regress/internal/cause
	$(GO) test -run - -fuzz FuzzPattern -fuzztime $(FUZZTIME) ./regress/internal/hole
	$(GO) test -run - -fuzz FuzzPreview -fuzztime $(FUZZTIME) ./regress/internal/preview

# The Go code of the messages, which is kept, after a change to files.proto. The
# generators are of the versions in go.mod (files/internal/wire/buf.gen.yaml).
wire:
	$(GO) run github.com/bufbuild/buf/cmd/buf@v1.50.0 generate \
		--template files/internal/wire/buf.gen.yaml --path files/internal/wire/files.proto

# Modules of their own, which ./... does not enter; policy_text_test.go fails
# when one is not built here by name.
side: tools
	$(GO) -C bench build ./...
	$(GO) -C bench vet ./...
	$(GO) -C bench test ./...
	$(GO) -C examples build -o ../bin/example .
	bin/example | grep -x '100 cases recorded, 25 changed, by 1 cause'

# The same bytes on every machine, because a list of modules names its tool by digest.
tools:
	CGO_ENABLED=0 $(GO) -C tools build -trimpath -buildvcs=false -o ../bin/ tool

# Archives, packages and checksums of the last commit, in build/release. Twice from the same
# commit and the same Go, they have the same bytes.
release: tools
	@GO="$(GO)" scripts/release

# As root: builds twice, installs the .deb below an empty root, and runs cases there.
check-release: tools
	@GO="$(GO)" scripts/check-release

# Beside other people's tools; what is not installed is named and left out.
# TABLE=article is muster alone by number of jobs, TABLE=reuse CORPUS=1GB check --reuse, TABLE=goals only
# what the goals compare; MUSTER=old=../old/muster,new=../bin/muster compares versions. What they are is in
# bench/README.md, from whose folder paths are seen.
MUSTER ?= ../bin/muster
CORPUS ?= 67MB,1KB
TOOL ?= tcc,true
ROUNDS ?= 5
TABLE ?= rivals
bench-regress: build
	@scripts/install-bench-tools build/lit
	PATH="$(CURDIR)/build/lit/bin:$$PATH" $(GO) -C bench run ./regress -muster $(MUSTER) -corpus $(CORPUS) -tool $(TOOL) -rounds $(ROUNDS) -table $(TABLE)

# The pool beside those of others, in Go, C++, Rust and Java.
bench-pool:
	$(GO) -C bench run ./pool

# The goals of the file service beside nginx and plain net/http, some 7 minutes. ROW is some of get-50k,
# get-1k, put-64m, slow, slow-hog, 5000 and slow-5000, or bucket, which is over versitygw and takes 5
# minutes, or minio. Disks are made in memory, as root, and taken away again.
ROW ?= all
bench-files: build
	@case "$(ROW)" in *bucket*) scripts/object-stores install || true;; esac
	@case "$(ROW)" in *minio*) scripts/object-stores install-minio || true;; esac
	$(GO) -C bench run ./files -muster $(MUSTER) -cache $(TEST_CACHE) -row $(ROW)

# How often muster tells of a cost that is not there, and finds 5 % that are: some 20 minutes
# on a machine with nothing else to do. ROUNDS is 100 unless given.
bench-cost: ROUNDS = 100
bench-cost: build
	$(GO) -C bench run ./cost -muster $(MUSTER) -rounds $(ROUNDS)

# In how few ways two versions of a tool are said to differ, and planted changes of which
# the truth is known. ONLY is some of those below; SHARE=0 takes all cases there are;
# JUDGE=60 prints pairs of edits that are called one cause.
ONLY ?= esbuild,gofmt,prettier,black,tsc,ruff,clang-format,uglify-js,marked,biome,pandoc,planted,large
SHARE ?= 1
JUDGE ?= 0
JOBS ?= $(shell getconf _NPROCESSORS_ONLN)
TEST_CACHE = $(or $(MUSTER_TEST_CACHE),$(or $(XDG_CACHE_HOME),$(HOME)/.cache)/muster-test)
bench-causes: build
	@scripts/install-test-tools || true
	@scripts/install-causes-tools $(TEST_CACHE)/causes || true
	$(GO) -C bench run ./causes -muster $(MUSTER) -cache $(TEST_CACHE) -only $(ONLY) -share $(SHARE) -jobs $(JOBS) -judge $(JUDGE)

# What muster takes as a client of a Remote Execution engine, which is started for it: some
# 8 minutes. ROUNDS is 3 unless given. TINY=1 has a few cases of everything.
TINY ?=
bench-remote: ROUNDS = 3
bench-remote: build
	@scripts/remote-engine install
	$(GO) -C bench run ./remote -muster $(MUSTER) -rounds $(ROUNDS) $(if $(TINY),-tiny)

# What a million cases take on an engine with 2,000 slots, and by a model on more cores: some
# 30 minutes, and 6 GB of /dev/shm. ROUNDS is 3 unless given. With KEEP=FOLDER, the same command goes
# on after an interruption, and ROWS=1 measures one row of the tables, of at most four minutes. With
# REPEAT=2, each case runs twice in the large runs: five minutes a row.
SCALE ?= 1000000
REPEAT ?= 1
KEEP ?=
ROWS ?=
bench-scale: ROUNDS = 3
bench-scale: build
	$(GO) -C bench run ./scale -muster $(MUSTER) -cases $(SCALE) -repeat $(REPEAT) -rounds $(ROUNDS) \
		$(if $(KEEP),-keep $(KEEP) -runs $(KEEP)/runs.json) $(if $(ROWS),-rows $(ROWS))

clean:
	rm -rf bin build
