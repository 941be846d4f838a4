// Package test states the rules of the house as tests. This file has the imports of each package
// and the dependencies of the program; policy_source_test.go has the rules for Go code, and
// policy_text_test.go those for all files. A failure names the place, the rule and the mend. If a
// rule is wrong, change the rule.
package test

import (
	"bytes"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// A room is one package, or a package and all below it ("x/..."), and the packages of this
// module that its non-test files may import.
type room struct {
	path    string
	imports string
	kind    kind
}

type kind int

const (
	plain  kind = iota
	pure        // touches no clock, disk, network or process: tests need no set-up and no waiting
	stdlib      // imports nothing outside the standard library
)

// rooms has a row for each package. If several rows match, the one with its exact name counts,
// else the longest.
var rooms = []room{
	{"cmd/muster", "fileio fileio/cthreads fileio/direct fileio/pooled fileio/uring files files/bucket files/cached files/gocache files/load files/service files/service/logfile internal/manpage internal/nearest internal/readable internal/realpath internal/terminal internal/wording internal/workflow lab regress regress/bisect regress/check regress/decide regress/doctor regress/goldens regress/host regress/merge regress/past regress/record regress/reduce regress/runone", plain},

	{"regress", "", stdlib},
	{"regress/internal/job", "regress regress/internal/content regress/internal/cost regress/internal/exec regress/internal/fault regress/internal/glob regress/internal/golden regress/internal/name regress/internal/normalize regress/internal/outcome regress/internal/plan regress/internal/state", plain},
	{"regress/internal/console", "internal/realpath internal/terminal regress regress/host regress/internal/fault regress/internal/report regress/internal/report/ci", plain},
	{"regress/check", "internal/readable internal/wording regress regress/host regress/internal/closure regress/internal/console regress/internal/crew regress/internal/exec regress/internal/fault regress/internal/filedigest regress/internal/forkserver regress/internal/golden regress/internal/job regress/internal/keep regress/internal/name regress/internal/outcome regress/internal/pass regress/internal/place regress/internal/report regress/internal/reuse regress/internal/run regress/internal/state regress/internal/turns regress/internal/verdict", plain},
	{"regress/goldens", "internal/readable internal/wording regress regress/host regress/internal/fault regress/internal/golden regress/internal/mirror regress/internal/name regress/internal/place regress/internal/plainfiles regress/internal/report regress/internal/state regress/internal/wholegolden", plain},
	{"regress/decide", "internal/readable internal/terminal internal/wording regress regress/host regress/internal/analyse regress/internal/cause regress/internal/console regress/internal/content regress/internal/fault regress/internal/filestamp regress/internal/glob regress/internal/golden regress/internal/job regress/internal/mirror regress/internal/name regress/internal/normalize regress/internal/outcome regress/internal/pastrun regress/internal/place regress/internal/report regress/internal/review regress/internal/review/terminal regress/internal/review/web regress/internal/state", plain},
	{"regress/past", "internal/readable regress regress/host regress/internal/analyse regress/internal/cause regress/internal/console regress/internal/content regress/internal/diff regress/internal/fault regress/internal/golden regress/internal/job regress/internal/name regress/internal/normalize regress/internal/outcome regress/internal/pastrun regress/internal/place regress/internal/plan regress/internal/report regress/internal/review regress/internal/run regress/internal/state regress/internal/wholegolden", plain},
	{"regress/doctor", "internal/readable internal/wording regress regress/internal/corpus regress/internal/crew regress/internal/exec regress/internal/exec/local", plain},
	{"regress/merge", "internal/readable regress regress/host regress/internal/analyse regress/internal/content regress/internal/fault regress/internal/golden regress/internal/job regress/internal/name regress/internal/outcome regress/internal/pastrun regress/internal/plan regress/internal/report regress/internal/run regress/internal/state", plain},
	{"regress/runone", "internal/readable regress regress/host regress/internal/content regress/internal/corpus regress/internal/exec regress/internal/fault regress/internal/golden regress/internal/job regress/internal/name regress/internal/outcome regress/internal/pass regress/internal/place regress/internal/report regress/internal/run", plain},
	{"regress/record", "internal/readable regress regress/host regress/internal/closure regress/internal/content regress/internal/diff regress/internal/exec regress/internal/fault regress/internal/golden regress/internal/job regress/internal/keep regress/internal/name regress/internal/normalize regress/internal/outcome regress/internal/pass regress/internal/place regress/internal/report regress/internal/run regress/internal/sample", plain},
	{"regress/reduce", "internal/readable regress regress/host regress/internal/analyse regress/internal/cause regress/internal/console regress/internal/content regress/internal/corpus regress/internal/exec regress/internal/fault regress/internal/goal regress/internal/golden regress/internal/job regress/internal/name regress/internal/normalize regress/internal/outcome regress/internal/pass regress/internal/pastrun regress/internal/plaintext regress/internal/run regress/internal/shrink regress/internal/turns", plain},
	{"regress/bisect", "internal/readable regress regress/host regress/internal/analyse regress/internal/bisection regress/internal/cause regress/internal/content regress/internal/exec regress/internal/fault regress/internal/goal regress/internal/golden regress/internal/job regress/internal/name regress/internal/outcome regress/internal/pass regress/internal/pastrun regress/internal/place regress/internal/report regress/internal/run", plain},
	{"regress/internal/goal", "regress regress/host regress/internal/cause regress/internal/fault regress/internal/job regress/internal/name regress/internal/pastrun regress/internal/run", plain},
	{"regress/host", "files regress/internal/exec", plain},
	{"regress/lane/scan", "", stdlib},
	{"regress/lane/observe", "regress/lane/scan", stdlib},
	{"regress/lane/fork", "", stdlib},
	{"regress/lane", "regress/lane/fork regress/lane/observe regress/lane/scan", stdlib},
	{"regress/internal/name", "internal/nearest regress/internal/fault internal/readable", pure},
	{"regress/internal/fault", "regress", pure},
	{"regress/internal/filestamp", "", plain},
	{"regress/internal/filedigest", "regress/internal/fault regress/internal/filestamp regress/internal/outcome", plain},
	{"regress/internal/tool", "regress/internal/closure regress/internal/exec regress/internal/fault regress/internal/filedigest regress/internal/glob regress/internal/name regress/internal/program regress/lane/observe", plain},
	{"regress/internal/closure", "regress regress/internal/fault regress/internal/filedigest regress/internal/filestamp regress/internal/name regress/internal/outcome regress/lane/observe", plain},
	{"regress/internal/observation", "regress regress/internal/closure regress/internal/exec regress/internal/filedigest regress/internal/name regress/internal/outcome regress/lane/observe", plain},
	{"regress/internal/program", "", plain},
	{"regress/internal/glob", "regress/internal/fault regress/internal/name", pure},
	{"regress/internal/outcome", "regress", pure},
	{"regress/internal/plan", "regress/internal/name regress/internal/glob", pure},
	{"regress/internal/shrink", "", pure},
	{"regress/internal/bisection", "", pure},
	{"regress/internal/partglob", "regress/internal/outcome regress/internal/glob", pure},
	{"regress/internal/content", "regress regress/internal/fault regress/internal/hole regress/internal/name regress/internal/normalize regress/internal/outcome regress/internal/partglob", pure},
	{"regress/internal/analyse", "internal/readable regress regress/internal/cause regress/internal/content regress/internal/diff regress/internal/golden regress/internal/name regress/internal/normalize regress/internal/outcome regress/internal/plaintext regress/internal/preview regress/internal/report regress/internal/review", plain},
	{"regress/internal/keep", "regress regress/internal/content regress/internal/corpus regress/internal/exec regress/internal/golden regress/internal/outcome", plain},
	{"regress/internal/forkserver", "internal/wording regress/internal/exec regress/internal/name regress/internal/outcome", plain},
	{"regress/internal/reuse", "regress/internal/closure regress/internal/exec regress/internal/fault regress/internal/filedigest regress/internal/outcome regress/lane/observe", plain},
	{"regress/internal/pass", "pool regress/internal/corpus regress/internal/exec", plain},
	{"regress/internal/run", "internal/readable internal/wording regress regress/host regress/internal/analyse regress/internal/closure regress/internal/console regress/internal/content regress/internal/corpus regress/internal/crew regress/internal/exec regress/internal/fault regress/internal/filedigest regress/internal/filestamp regress/internal/glob regress/internal/golden regress/internal/job regress/internal/mirror regress/internal/name regress/internal/normalize regress/internal/observation regress/internal/outcome regress/internal/partglob regress/internal/pass regress/internal/plan regress/internal/report regress/internal/sample regress/internal/state regress/internal/tool regress/lane/observe", plain},
	{"regress/internal/sample", "internal/readable regress/internal/content regress/internal/exec regress/internal/fault regress/internal/golden regress/internal/keep regress/internal/name regress/internal/outcome regress/internal/pass regress/internal/state", plain},
	{"regress/internal/pastrun", "regress regress/host regress/internal/analyse regress/internal/cause regress/internal/fault regress/internal/golden regress/internal/job regress/internal/name regress/internal/outcome regress/internal/place regress/internal/review regress/internal/state", plain},
	{"regress/internal/turns", "internal/wording regress regress/internal/closure regress/internal/corpus regress/internal/cost regress/internal/exec regress/internal/fault regress/internal/filedigest regress/internal/glob regress/internal/golden regress/internal/name regress/internal/outcome regress/internal/pass regress/internal/report regress/internal/state", plain},
	{"regress/internal/verdict", "regress regress/internal/analyse regress/internal/content regress/internal/corpus regress/internal/exec regress/internal/golden regress/internal/keep regress/internal/name regress/internal/normalize regress/internal/outcome regress/internal/pass regress/internal/report regress/internal/run regress/internal/sample regress/internal/state regress/internal/turns", plain},
	{"regress/internal/crew", "internal/readable regress regress/internal/content regress/internal/corpus regress/internal/exec regress/internal/exec/local regress/internal/exec/reapi regress/internal/fault regress/internal/glob regress/internal/golden regress/internal/name regress/internal/normalize regress/internal/outcome regress/internal/program regress/internal/report", plain},
	{"regress/internal/normalize", "regress/internal/outcome regress/internal/partglob", pure},
	{"regress/internal/corpus", "internal/readable pool regress regress/internal/fault regress/internal/filedigest regress/internal/filestamp regress/internal/glob regress/internal/name regress/internal/outcome", plain},
	{"regress/internal/golden", "internal/filelock internal/realpath regress regress/internal/fault regress/internal/name regress/internal/outcome", plain},
	{"regress/internal/wholegolden", "internal/readable regress/internal/fault regress/internal/golden regress/internal/name regress/internal/outcome", plain},
	{"regress/internal/plainfiles", "internal/readable internal/realpath regress regress/internal/fault regress/internal/golden regress/internal/name regress/internal/outcome", plain},
	{"regress/internal/exec", "regress/internal/outcome regress/internal/corpus regress/internal/fault regress/lane/observe", plain},
	{"regress/internal/exec/local", "internal/cgroup internal/filelock internal/readable regress regress/internal/corpus regress/internal/exec regress/internal/fault regress/internal/name regress/internal/outcome regress/lane regress/lane/observe", plain},
	{"regress/internal/exec/reapi", "internal/readable pool regress regress/internal/corpus regress/internal/exec regress/internal/exec/reapi/blob regress/internal/exec/reapi/bundle regress/internal/exec/reapi/client regress/internal/exec/reapi/tree regress/internal/fault regress/internal/name regress/internal/outcome", plain},
	{"regress/internal/exec/reapi/blob", "regress/internal/outcome", pure},
	{"regress/internal/exec/reapi/bundle", "internal/readable regress regress/internal/exec regress/internal/exec/reapi/blob regress/internal/exec/reapi/tree regress/internal/fault regress/internal/filedigest regress/internal/name regress/internal/program", plain},
	{"regress/internal/exec/reapi/client", "internal/readable pool regress regress/internal/exec/reapi/blob regress/internal/fault", plain},
	{"regress/internal/exec/reapi/tree", "regress/internal/exec/reapi/blob regress/internal/outcome", pure},
	{"internal/readable", "", pure},
	{"regress/internal/align", "", pure},
	{"regress/internal/lookalike", "regress/internal/align", pure},
	{"regress/internal/plaintext", "", pure},
	{"regress/internal/palette", "", pure},
	{"regress/internal/preview", "internal/readable", pure},
	{"regress/internal/hole", "regress/internal/diff regress/internal/plaintext", pure},
	{"regress/internal/diff", "internal/readable regress/internal/align regress/internal/lookalike regress/internal/palette regress/internal/plaintext", pure},
	{"regress/internal/cause/token", "", pure},
	{"regress/internal/cause/pattern", "regress/internal/cause/token regress/internal/lookalike", pure},
	{"regress/internal/cause/document", "regress/internal/align", pure},
	{"regress/internal/cause/edit", "regress/internal/align regress/internal/cause/document regress/internal/cause/pattern regress/internal/cause/token regress/internal/plaintext", pure},
	{"regress/internal/cause", "regress regress/internal/cause/document regress/internal/cause/edit regress/internal/cause/pattern regress/internal/cause/token regress/internal/name regress/internal/outcome regress/internal/plaintext", pure},
	{"regress/internal/cost", "regress/internal/outcome internal/readable", pure},
	{"regress/internal/review/terminal", "internal/readable internal/wording regress/internal/fault regress/internal/palette regress/internal/review", plain},
	{"regress/internal/report", "internal/plot internal/readable internal/style regress regress/internal/cause regress/internal/cost regress/internal/diff regress/internal/fault regress/internal/name regress/internal/outcome regress/internal/palette regress/internal/preview regress/internal/report/pending", plain},
	{"regress/internal/report/ci", "internal/readable internal/workflow regress regress/internal/name regress/internal/report", plain},
	{"regress/internal/report/pending", "internal/readable internal/realpath regress/internal/fault", plain},
	{"regress/internal/review", "internal/readable regress/internal/cause regress/internal/diff regress/internal/plaintext", pure},
	{"regress/internal/review/web", "internal/readable internal/style internal/wording regress regress/internal/fault regress/internal/name regress/internal/plaintext regress/internal/preview regress/internal/review", plain},
	{"regress/internal/mirror", "fileio files files/bucket internal/readable internal/wording regress/internal/fault regress/internal/filestamp", plain},
	{"regress/internal/place", "files regress regress/internal/fault regress/internal/golden regress/internal/mirror regress/internal/state", plain},
	{"regress/internal/state", "internal/filelock internal/readable regress regress/internal/fault regress/internal/name regress/internal/outcome", plain},

	{"pool", "", stdlib},

	// Kits are for tests. No other row may name them.
	{"test/kits/reapitest", "", plain},
	{"test/kits/faulty", "fileio", plain},
	{"test/kits/enginetest", "fileio internal/fair", plain},
	{"test/kits/buckettest", "", stdlib},

	{"fileio", "fileio/internal/ledger pool internal/fair internal/filelock internal/nowait internal/pages", plain},
	{"fileio/internal/ledger", "internal/readable", plain},
	{"fileio/direct", "fileio", plain},
	{"fileio/pooled", "fileio pool", plain},
	{"fileio/cthreads", "fileio", plain},
	{"fileio/uring", "fileio", plain},

	{"files", "fileio files/internal/dav files/internal/pace files/internal/remotecache files/internal/wire internal/fair internal/wording pool", plain},
	{"files/bucket", "fileio internal/fair internal/pages internal/readable internal/wording", plain},
	{"files/cached", "fileio internal/wording", plain},
	{"files/gocache", "fileio files", plain},
	{"files/internal/dav", "fileio", plain},
	{"files/internal/pace", "", stdlib},
	{"files/internal/remotecache", "fileio internal/fair pool", plain},
	{"files/internal/wire", "", plain},
	{"files/load", "files internal/page internal/plot internal/readable internal/wording", plain},
	{"files/service", "files/internal/pace internal/nowait internal/wording", plain},
	{"files/service/logfile", "internal/realpath", stdlib},

	{"lab", "internal/page internal/plot internal/readable lab/corpora lab/internal/run lab/native lab/probe lab/results lab/stat", plain},
	{"lab/results", "lab/stat", pure},
	{"lab/internal/run", "internal/cgroup lab/native lab/probe lab/results", plain},
	{"lab/corpora", "", stdlib},
	{"lab/native", "", stdlib},
	{"lab/probe", "fileio fileio/cthreads fileio/direct fileio/pooled fileio/uring files files/load internal/cgroup internal/readable lab/results pool regress regress/host regress/record", plain},
	{"lab/stat", "", pure},

	{"internal/cgroup", "", stdlib},
	{"internal/fair", "", stdlib},
	{"internal/filelock", "", plain},
	{"internal/realpath", "", stdlib},
	{"internal/nearest", "", pure},
	{"internal/pages", "internal/fair", stdlib},
	{"internal/wording", "internal/readable", plain},
	{"internal/workflow", "", stdlib},
	{"internal/plot", "", pure},
	{"internal/page", "internal/plot internal/style", pure},
	{"internal/style", "", pure},
	{"internal/...", "", plain},
	{"scripts/...", "", stdlib},
}

// A dependency is a module that becomes part of the program on Linux or macOS. Modules that
// only tests import do not belong here. why is its advantage over our own code; brings lists
// the modules that come with it.
type dependency struct {
	path, why, brings string
}

var dependencies = []dependency{
	{"github.com/spf13/cobra", "commands, help and completions in the form that people know",
		"github.com/spf13/pflag"},
	{"github.com/pelletier/go-toml/v2", "muster.toml, strict: unknown keys are reported with their place", ""},
	{"modernc.org/sqlite", "the golden is one transactional file that opens everywhere, and this SQLite needs no C compiler",
		"modernc.org/libc modernc.org/mathutil modernc.org/memory github.com/dustin/go-humanize " +
			"github.com/mattn/go-isatty github.com/ncruces/go-strftime github.com/remyoudompheng/bigfft"},
	{"github.com/klauspost/compress", "zstd and gzip, several times faster than the alternatives", ""},
	{"github.com/xi2/xz", "xz if the xz program is missing: it bounds the dictionary of every block", ""},
	{"github.com/kballard/go-shellquote", "splits --ref 'COMMAND' and PAGER as a shell would", ""},
	{"github.com/mattn/go-runewidth", "the number of columns that a name takes on a terminal", "github.com/clipperhouse/uax29/v2"},
	// Its first version asks the terminal for its colours in an init function. Every command of
	// the program would wait for the answer.
	{"charm.land/bubbletea/v2", "the screen of a review: reads keys in every encoding, draws only changes, restores the terminal",
		"github.com/charmbracelet/colorprofile github.com/charmbracelet/ultraviolet github.com/charmbracelet/x/ansi github.com/charmbracelet/x/term " +
			"github.com/charmbracelet/x/termios github.com/charmbracelet/x/windows github.com/clipperhouse/displaywidth github.com/lucasb-eyer/go-colorful " +
			"github.com/muesli/cancelreader github.com/rivo/uniseg github.com/xo/terminfo"},
	{"github.com/bmatcuk/doublestar/v4", "globs with **, which path.Match lacks", ""},
	{"al.essio.dev/pkg/shellescape", "the shell line that reproduces a case, for any name", ""},
	{"github.com/VictoriaMetrics/metrics", "figures for Prometheus in separate sets, with a tenth of the modules of its own client",
		"github.com/valyala/fastrand github.com/valyala/histogram"},
	{"google.golang.org/grpc", "the transport of the Remote Execution API: streams, TLS, keep-alive",
		"golang.org/x/net google.golang.org/genproto/googleapis/rpc"},
	{"github.com/bazelbuild/remote-apis", "its messages and clients, as its makers generate them; a second copy would clash",
		"google.golang.org/genproto/googleapis/api"},
	{"cloud.google.com/go/longrunning", "the operations by which an engine reports executions", ""},
	{"google.golang.org/genproto/googleapis/bytestream", "large contents as streams", ""},
	{"github.com/go-json-experiment/json", "JSON lines with a form of their own for durations and texts: encoding/json has one form for each type", ""},
	{"github.com/google/uuid", "names of runs and uploads on an engine, in the form that the API asks for", ""},
	{"github.com/tidwall/btree", "the names of a store's files, in order", ""},
	{"golang.org/x/sync", "semaphores that keep their order, behind budgets of memory and of cases on an engine", ""},
	{"github.com/HdrHistogram/hdrhistogram-go", "percentiles of millions of latencies within 0.1 %, in 200 KB, that can be merged", ""},
	{"golang.org/x/perf", "the median's interval, as benchstat has it", ""},
	{"github.com/aclements/go-moremath", "the quantiles of Student's t, behind the intervals of costs", ""},
	{"gonum.org/v1/plot", "axes, text and shapes of charts, as SVG",
		"codeberg.org/go-fonts/liberation codeberg.org/go-latex/latex codeberg.org/go-pdf/fpdf git.sr.ht/~sbinet/gg github.com/ajstarks/svgo github.com/golang/freetype"},
	{"golang.org/x/text", "characters that print alike: the forms of Unicode", ""},
	{"golang.org/x/image", "smooth scaling of pictures, and WebP", ""},
	{"github.com/minio/minio-go/v7", "object stores: signatures, credentials of all kinds, repetitions; half of Amazon's own client",
		"github.com/cespare/xxhash/v2 github.com/klauspost/cpuid/v2 github.com/klauspost/crc32 github.com/minio/crc64nvme github.com/minio/md5-simd " +
			"github.com/philhofer/fwd github.com/rs/xid github.com/tinylib/msgp github.com/zeebo/xxh3 go.yaml.in/yaml/v3 golang.org/x/crypto gopkg.in/ini.v1"},
	{"connectrpc.com/connect", "the message service on net/http, for clients of protobuf and JSON, gRPC and curl", ""},
	{"google.golang.org/protobuf", "the messages of the file service and of the Remote Execution API", ""},
	{"golang.org/x/term", "whether a file is a terminal, and its width", ""},
	{"golang.org/x/sys", "system calls beyond the standard library: statfs, flock, waitid, file flags", ""},
}

// engineRooms are the packages that speak with an engine of the Remote Execution API, cacheRoom
// serves the API's cache, and engineKit plays an engine for tests. Other packages call them, and
// need not change when the API or gRPC does.
const (
	engineRooms = "regress/internal/exec/reapi/..."
	cacheRoom   = "files/internal/remotecache"
	engineKit   = "test/kits/reapitest"
)

// enginePackages are the packages that speak the API.
var enginePackages = []string{
	"google.golang.org/grpc/...", "github.com/bazelbuild/remote-apis/...", "cloud.google.com/go/longrunning/...",
	"google.golang.org/genproto/...",
}

// engineDoor is the package through which others call them. The packages below it are its own.
const engineDoor = "regress/internal/exec/reapi"

// bucketRoom is the package that speaks with object stores.
const bucketRoom = "files/bucket"

func TestBucketRoom(t *testing.T) {
	for _, s := range readTree(t).sources {
		for _, imported := range s.imports {
			if under(imported, "github.com/minio/...") && s.folder() != bucketRoom {
				t.Errorf("%s imports %s: only %s may; ask it", s.path, imported, bucketRoom)
			}
		}
	}
}

func TestEngineDoor(t *testing.T) {
	for _, s := range readTree(t).sources {
		for _, imported := range s.imports {
			ours, isOurs := strings.CutPrefix(imported, module+"/")
			if isOurs && ours != engineDoor && under(ours, engineRooms) && !under(s.folder(), engineRooms) && !s.isTest() {
				t.Errorf("%s imports %s: have it of %s, which alone is for others", s.path, ours, engineDoor)
			}
		}
	}
}

func TestEngineRooms(t *testing.T) {
	for _, s := range readTree(t).sources {
		for _, imported := range s.imports {
			if under(imported, enginePackages...) && !under(s.folder(), engineRooms, cacheRoom, engineKit) {
				t.Errorf("%s imports %s: only %s and %s may; ask one of these packages", s.path, imported, engineRooms, cacheRoom)
			}
		}
	}
}

// The systems whose builds the rules on dependencies examine.
var systems = []string{"linux", "darwin"}

const module = "muster"

func TestImports(t *testing.T) {
	unknown, used, entered := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, s := range readTree(t).sources {
		if s.isTest() {
			continue
		}
		row, ok := roomOf(s.folder())
		if !ok {
			if !unknown[s.folder()] {
				t.Errorf("package %s is in no row of rooms in policy_test.go: add one that says which of our packages it may import", s.folder())
			}
			unknown[s.folder()] = true
			continue
		}
		entered[row.path] = true
		for _, spec := range s.file.Imports {
			imported := strings.Trim(spec.Path.Value, `"`)
			checkImport(t, s, row, imported)
			for _, allowed := range strings.Fields(row.imports) {
				if under(strings.TrimPrefix(imported, module+"/"), allowed) {
					used[row.path+" "+allowed] = true
				}
			}
		}
	}
	for _, row := range rooms {
		if !entered[row.path] {
			t.Errorf("rooms in policy_test.go has a row for %s, where no package is: take it out", row.path)
		}
		for _, allowed := range strings.Fields(row.imports) {
			if !used[row.path+" "+allowed] {
				t.Errorf("%s may import %s and does not: take that out of rooms in policy_test.go", row.path, allowed)
			}
		}
	}
}

func roomOf(folder string) (found room, ok bool) {
	for _, r := range rooms {
		if r.path == folder {
			return r, true
		}
		if under(folder, r.path) && len(r.path) > len(found.path) {
			found, ok = r, true
		}
	}
	return found, ok
}

func checkImport(t *testing.T, s source, row room, imported string) {
	t.Helper()
	ours, isOurs := strings.CutPrefix(imported, module+"/")
	first, _, _ := strings.Cut(imported, "/")
	switch {
	case isOurs && !under(ours, strings.Fields(row.imports)...):
		t.Errorf("%s imports %s, which rooms in policy_test.go does not allow to %s: pass the value in from above, or move the code to where the arrow may start", s.path, ours, row.path)
	case row.kind == stdlib && strings.Contains(first, "."):
		t.Errorf("%s imports %s: %s uses the standard library only (rooms in policy_test.go), so that anybody can carry it", s.path, imported, row.path)
	case row.kind == pure && under(imported, "os/...", "net/...", "syscall", "golang.org/x/sys/..."):
		t.Errorf("%s imports %s: %s is pure (rooms in policy_test.go); its caller does the IO and hands it the result", s.path, imported, row.path)
	}
}

// The lane helper is this same program, started again and taken over in the init of
// regress/lane. Packages are initialised in the order of their dependencies, so everything that
// lane imports runs first in each lane, and counts in the memory floor of every case. Package
// os opens files and starts the poller; fmt, most users of bufio and most other packages import
// it. Of the packages that are ready, Go initialises the one with the first name. So unicode, which
// strings, bytes and reflect import, comes after os. By then 120 packages with names before muster are
// ready, and would come before lane.
func TestLaneIsLight(t *testing.T) {
	for _, system := range systems {
		imports := map[string][]string{}
		for _, line := range goList(t, system, "-deps", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./regress/lane") {
			words := strings.Fields(line)
			imports[words[0]] = words[1:]
		}
		for _, heavy := range []string{"os", "fmt", "net", "unicode"} {
			if chain := chainTo(imports, module+"/regress/lane", heavy); chain != nil {
				t.Errorf("on %s regress/lane depends on %s: %s; use syscall, strconv, unsafe and regress/lane/scan instead", system, heavy, strings.Join(chain, " → "))
			}
		}
	}
}

// chainTo returns a shortest chain of imports from one package to another.
func chainTo(imports map[string][]string, from, to string) []string {
	came := map[string]string{from: ""}
	for queue := []string{from}; len(queue) > 0; queue = queue[1:] {
		if queue[0] == to {
			var chain []string
			for p := to; p != ""; p = came[p] {
				chain = append(chain, p)
			}
			slices.Reverse(chain)
			return chain
		}
		for _, next := range imports[queue[0]] {
			if _, seen := came[next]; !seen {
				came[next] = queue[0]
				queue = append(queue, next)
			}
		}
	}
	return nil
}

func TestDependencies(t *testing.T) {
	listed := map[string]bool{}
	for _, d := range dependencies {
		for _, m := range append(strings.Fields(d.brings), d.path) {
			listed[m] = true
		}
	}
	used := map[string]bool{}
	for _, system := range systems {
		for _, m := range goList(t, system, "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}{{end}}{{end}}", "./cmd/muster") {
			used[m] = true
			if !listed[m] {
				t.Errorf("the program depends on module %s (on %s), which dependencies in policy_test.go does not list: add it with one line of why, or under the one that brings it, or do without (go mod why -m %s)", m, system, m)
				listed[m] = true
			}
		}
	}
	for m := range listed {
		if !used[m] {
			t.Errorf("dependencies in policy_test.go lists module %s, which the program does not use: remove it there and from go.mod", m)
		}
	}
}

// architectureLines is the number of lines that fit two screens.
const architectureLines = 100

func TestArchitectureIsShort(t *testing.T) {
	page, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(page, []byte("\n")); n > architectureLines {
		t.Errorf("ARCHITECTURE.md has %d lines, and at most %d fit two screens: move details to the package comments", n, architectureLines)
	}
}

func TestPackageComments(t *testing.T) {
	documented := map[string]bool{}
	for _, s := range readTree(t).sources {
		if s.isTest() {
			continue
		}
		// Text omits directives, so a build constraint does not count as a comment.
		comment := s.file.Doc.Text()
		if name := s.file.Name.Name; name == "main" && comment != "" || strings.HasPrefix(comment, "Package "+name+" ") {
			documented[s.folder()] = true
		} else if !documented[s.folder()] {
			documented[s.folder()] = false
		}
	}
	for folder, ok := range documented {
		if !ok {
			t.Errorf("package %s has no package comment: begin one of its files with \"// Package NAME …\" and say what it is for and what must stay out of it", folder)
		}
	}
}

// goList runs go list for a build without cgo on a system, and returns the lines that are not
// empty.
func goList(t *testing.T, system string, args ...string) []string {
	t.Helper()
	var stderr bytes.Buffer
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"list"}, args...)...)
	cmd.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, stderr.Bytes())
	}
	return slices.DeleteFunc(strings.Split(string(out), "\n"), func(line string) bool { return line == "" })
}
