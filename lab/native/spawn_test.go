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

// Every contestant calls directly and in threads or tasks of its own. In mode waiting it
// reports memory. Rayon's tasks cannot wait.
func TestSpawn(t *testing.T) {
	programs(t, native.Spawn, func(t *testing.T, b *native.Executable) {
		for _, impl := range b.Impls {
			for _, mode := range modesOf(native.Spawn) {
				stdout, stderr, status := start(t, b, "-impl "+impl+" -mode "+mode+" -work 3 -count 50")
				if impl == "rayon" && mode == "waiting" {
					if status != native.StatusNoSuchMode || stdout != "" {
						t.Errorf("rayon waits, with status %d: %s", status, stdout)
					}
					continue
				}
				if status != 0 {
					t.Errorf("%s %s ends with %d: %s", impl, mode, status, stderr)
				}
				checkSpawn(t, stdout, impl, mode)
			}
		}
	})
}

func checkSpawn(t *testing.T, stdout, impl, mode string) {
	t.Helper()
	const figure = `\d+\.\d\d`
	want := fmt.Sprintf("BenchmarkSpawn/impl=%s/mode=%s/work=3 50 %s ns/op %[3]s cpu-ns/op", impl, mode, figure)
	if mode == "waiting" && runtime.GOOS == "linux" {
		want += " -?" + figure + " rss-B/op"
	}
	if mode == "waiting" && slices.Contains([]string{"erlang", "java-virtual"}, impl) {
		want += " -?" + figure + " stack-B/op"
	}
	if ok, err := regexp.MatchString("^"+want+"\n$", stdout); !ok || err != nil {
		t.Errorf("%s %s prints %q, want %s", impl, mode, stdout, want)
	}
}

// The memory of a waiting thread or process has known minimums: 300 words for an Erlang
// process, and for a thread the first page of its stack.
func TestWaitingTakesMemory(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux reports resident memory")
	}
	least := map[string]float64{"cpp-thread": 4096, "rust-thread": 4096, "java-thread": 4096, "erlang": 2000, "java-virtual": 200}
	programs(t, native.Spawn, func(t *testing.T, b *native.Executable) {
		impl := b.Impls[0]
		count := "1000"
		if impl == "erlang" || impl == "java-virtual" {
			count = "100000" // enough to need more memory than the process already has
		}
		stdout, stderr, status := start(t, b, "-impl "+impl+" -mode waiting -count "+count)
		_, after, _ := strings.Cut(stdout, "cpu-ns/op ")
		var resident float64
		if _, err := fmt.Sscanf(after, "%f rss-B/op", &resident); err != nil || status != 0 {
			t.Fatalf("%s: %v, status %d: %s%s", impl, err, status, stdout, stderr)
		}
		if resident < least[impl] || resident > 200_000 {
			t.Errorf("%s: %.0f bytes of resident memory each, want %.0f to 200,000", impl, resident, least[impl])
		}
	})
}

// A refused thread is a result: it has an exit status, and the message has the number of
// threads. Stacks of 1 GB in an address space of 40 GB make the system refuse early.
func TestNoMoreThreads(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the limit of addresses is Linux's")
	}
	t.Setenv("RUST_MIN_STACK", "1073741824")
	t.Setenv("JDK_JAVA_OPTIONS", "-Xss1g -Xmx256m")
	refused := regexp.MustCompile(`the system gives no more than \d\d threads: `)
	programs(t, native.Spawn, func(t *testing.T, b *native.Executable) {
		impl := b.Impls[0]
		if impl == "erlang" || impl == "java-virtual" {
			return // no threads
		}
		limited := *b
		const limits = `ulimit -s 1048576 && ulimit -v 40000000 && exec "$@"`
		limited.Args = append([]string{"sh", "-c", limits, "sh"}, b.Args...)
		for _, mode := range []string{"each", "waiting"} {
			stdout, stderr, status := start(t, &limited, "-impl "+impl+" -mode "+mode+" -count 60")
			if !refused.MatchString(stderr) || status != native.StatusNoMore || stdout != "" {
				t.Errorf("%s %s: status %d, want %d\n%s%s", impl, mode, status, native.StatusNoMore, stdout, stderr)
			}
		}
	})
}

// Erlang's table bounds its processes.
func TestNoMoreProcesses(t *testing.T) {
	programs(t, native.Spawn, func(t *testing.T, b *native.Executable) {
		if b.Impls[0] != "erlang" {
			return
		}
		limited := *b
		limited.Args = slices.Clone(b.Args)
		at := slices.Index(limited.Args, "+P")
		limited.Args[at+1] = "1024"
		stdout, stderr, status := start(t, &limited, "-impl erlang -mode each -count 2000")
		if status != native.StatusNoMore || stdout != "" || !strings.Contains(stderr, "the system gives no more than 10") {
			t.Errorf("status %d, want %d\n%s%s", status, native.StatusNoMore, stdout, stderr)
		}
	})
}
