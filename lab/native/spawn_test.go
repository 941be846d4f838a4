package native_test

import (
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"muster/lab/native"
)

// Every contestant calls directly and in threads or tasks of its own; what waits tells
// its memory. Rayon's tasks cannot wait.
func TestSpawn(t *testing.T) {
	programs(t, native.Spawn, func(t *testing.T, b *native.Built) {
		for _, impl := range b.Impls {
			for _, mode := range native.Spawn.Modes() {
				said, failed, status := start(t, b, "-impl "+impl+" -mode "+mode+" -work 3 -count 50")
				if impl == "rayon" && mode == "waiting" {
					if status != native.StatusNoSuchMode || said != "" {
						t.Errorf("rayon waits, with status %d: %s", status, said)
					}
					continue
				}
				if status != 0 {
					t.Errorf("%s %s ends with %d: %s", impl, mode, status, failed)
				}
				checkSpawn(t, said, impl, mode)
			}
		}
	})
}

func checkSpawn(t *testing.T, said, impl, mode string) {
	t.Helper()
	const figure = `\d+\.\d\d`
	want := fmt.Sprintf("BenchmarkSpawn/impl=%s/mode=%s/work=3 50 %s ns/op %[3]s cpu-ns/op", impl, mode, figure)
	if mode == "waiting" && runtime.GOOS == "linux" {
		want += " -?" + figure + " rss-B/op"
	}
	if mode == "waiting" && slices.Contains([]string{"erlang", "java-virtual"}, impl) {
		want += " -?" + figure + " stack-B/op"
	}
	if ok, err := regexp.MatchString("^"+want+"\n$", said); !ok || err != nil {
		t.Errorf("%s %s prints %q, want %s", impl, mode, said, want)
	}
}

// What waits takes at least the memory that is known of it: a process of Erlang 300 words,
// a thread the page that its stack begins with.
func TestWaitingTakesMemory(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells resident memory")
	}
	least := map[string]float64{"cpp-thread": 4096, "rust-thread": 4096, "java-thread": 4096, "erlang": 2000, "java-virtual": 200}
	programs(t, native.Spawn, func(t *testing.T, b *native.Built) {
		impl := b.Impls[0]
		count := "1000"
		if impl == "erlang" || impl == "java-virtual" {
			count = "100000" // so many that they need more than what was there already
		}
		said, failed, status := start(t, b, "-impl "+impl+" -mode waiting -count "+count)
		_, after, _ := strings.Cut(said, "cpu-ns/op ")
		var resident float64
		if _, err := fmt.Sscanf(after, "%f rss-B/op", &resident); err != nil || status != 0 {
			t.Fatalf("%s: %v, status %d: %s%s", impl, err, status, said, failed)
		}
		if resident < least[impl] || resident > 200_000 {
			t.Errorf("%s: %.0f bytes of resident memory each, want %.0f to 200,000", impl, resident, least[impl])
		}
	})
}

// Where the system refuses a thread, that is a result: a status of its own, and how many
// there were. Stacks of a gigabyte in 40 gigabytes of addresses make it refuse early.
func TestNoMoreThreads(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the limit of addresses is Linux's")
	}
	t.Setenv("RUST_MIN_STACK", "1073741824")
	t.Setenv("JDK_JAVA_OPTIONS", "-Xss1g -Xmx256m")
	refused := regexp.MustCompile(`the system gives no more than \d\d threads: `)
	programs(t, native.Spawn, func(t *testing.T, b *native.Built) {
		impl := b.Impls[0]
		if impl == "erlang" || impl == "java-virtual" {
			return // no threads
		}
		limited := *b
		const limits = `ulimit -s 1048576 && ulimit -v 40000000 && exec "$@"`
		limited.Args = append([]string{"sh", "-c", limits, "sh"}, b.Args...)
		for _, mode := range []string{"each", "waiting"} {
			said, failed, status := start(t, &limited, "-impl "+impl+" -mode "+mode+" -count 60")
			if !refused.MatchString(failed) || status != native.StatusNoMore || said != "" {
				t.Errorf("%s %s: status %d, want %d\n%s%s", impl, mode, status, native.StatusNoMore, said, failed)
			}
		}
	})
}

// Erlang's processes end where its table of them does.
func TestNoMoreProcesses(t *testing.T) {
	programs(t, native.Spawn, func(t *testing.T, b *native.Built) {
		if b.Impls[0] != "erlang" {
			return
		}
		limited := *b
		limited.Args = slices.Clone(b.Args)
		at := slices.Index(limited.Args, "+P")
		limited.Args[at+1] = "1024"
		said, failed, status := start(t, &limited, "-impl erlang -mode each -count 2000")
		if status != native.StatusNoMore || said != "" || !strings.Contains(failed, "the system gives no more than 10") {
			t.Errorf("status %d, want %d\n%s%s", status, native.StatusNoMore, said, failed)
		}
	})
}
