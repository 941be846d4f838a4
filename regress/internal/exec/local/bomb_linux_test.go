package local

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// bombSize is what a bomb of these tests starts, and what its case may have. The tests do
// not let a fork fail: where one fails, a bomb mostly ends by itself, and it is the
// scheduler's choice whether a look comes first.
type bombSize struct {
	generations int // the processes double in each
	threads     int
	limit       int64
}

// sizeOfBombs is small unless tests of load run in full.
func sizeOfBombs() bombSize {
	if whole() {
		return bombSize{generations: 8, threads: 600, limit: 400}
	}
	return bombSize{generations: 5, threads: 60, limit: 20}
}

// bombs are scripts that start more processes or threads than their case may have. They
// stay, with a mark on the command line of what stays longest.
func (size bombSize) bombs(mark string) map[string]string {
	const each = "if [ $1 -gt 0 ]; then set -- $(($1-1)); "
	stay := "fi; exec sleep 86400." + mark
	alone := `trap "" TERM HUP INT; ` + each + "setsid sh ./b $1 & setsid sh ./b $1 & " + stay
	generations, threads := strconv.Itoa(size.generations), strconv.Itoa(size.threads)
	return map[string]string{
		"waited for":                 "b() { " + each + "b $1 & b $1 & " + stay + "; }; b " + generations,
		"left behind":                "b() { " + each + "b $1 & b $1 & " + stay + "; }; b " + generations + " & sleep 86400." + mark,
		"pipes":                      "b() { " + each + "b $1 | b $1 & " + stay + "; }; b " + generations,
		"each in its own session":    "echo '" + alone + "' > b; exec sh b " + generations,
		"children that are not read": "exec " + self("zombies", threads, mark),
		"threads":                    "exec " + self("threads", threads, mark),
	}
}

// endlessBombs start more without end, or until a fork fails. The small share has none.
func endlessBombs(mark string) map[string]string {
	if !whole() {
		return nil
	}
	stay := "sleep 86400." + mark
	alone := `trap "" TERM HUP INT; setsid sh ./b & setsid sh ./b & ` + stay
	return map[string]string{
		"waited for":                 "b() { b & b & " + stay + "; }; b",
		"each in its own session":    "echo '" + alone + "' > b; exec sh b",
		"children that are not read": "exec " + self("zombies", "5000", mark),
		"threads":                    "exec " + self("threads", "5000", mark),
	}
}

// TestForkBomb: a case that starts more than it may is ended, all of it, and
// neither its lane nor another notices.
func TestForkBomb(t *testing.T) {
	inAllModes(t, func(r *rig) {
		plain, size := r.crew.o.plain, sizeOfBombs()
		r = newRig(r.T, r.corpus, func(o *Options) {
			o.plain, o.Lanes, o.processes, o.Timeout, o.Grace = plain, 2, size.limit, 20*time.Second, time.Millisecond
		})
		for name, text := range size.bombs("MARK") {
			r.sub(name, func(r *rig) { r.want([]string{r.explode(text)}, "out-of-memory") })
		}
		for name, text := range endlessBombs("MARK") {
			// Without a PID namespace root's are bounded by the system's limits alone,
			// and an ordinary user's take what the other lanes need too.
			if !plain || !strings.Contains(text, "sleep") {
				r.sub("endless, "+name, func(r *rig) { r.explode(text) })
			}
		}
	})
}

// explode has a bomb go off beside other cases, or before them where there is one lane,
// and says how it ended. Nothing may be left of it then.
func (r *rig) explode(text string) (verdict string) {
	mark := newMark()
	done := r.begin(r.Context(), "one.c", strings.ReplaceAll(text, "MARK", mark))
	for verdict == "" {
		r.wantClean("next.c") // on the other lane, if there is one
		select {
		case got := <-done:
			must(r, got.err)
			verdict = r.tell(got.result)[0]
			got.result.Release()
		default:
		}
	}
	if left := marked(r.T, mark); len(left) > 0 {
		r.Errorf("%d are alive, %v", len(left), left[0])
	}
	r.wantClean("next.c")
	r.wantClean("sub/two.c")
	return verdict
}

// TestForkBombPlain: an ordinary user's is bounded and ended without namespaces
// too, and what comes after it finds the lane as it was.
func TestForkBombPlain(t *testing.T) {
	if os.Geteuid() == 0 {
		if !again(t, asOrdinaryUser(t)) {
			return
		}
	}
	size := sizeOfBombs()
	r := newRig(t, usual(t), plainly, func(o *Options) { o.processes, o.Timeout, o.Grace = size.limit, 20*time.Second, time.Millisecond })
	for name, text := range size.bombs("MARK") {
		r.sub(name, func(r *rig) { r.want([]string{r.explode(text)}, "out-of-memory") })
	}
	for name, text := range endlessBombs("MARK") {
		r.sub("endless, "+name, func(r *rig) { r.explode(text) })
	}
}

// zombiesTool starts processes that end, and does not look at them.
func zombiesTool(args []string) error {
	count, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	for range count {
		for {
			_, err := os.StartProcess("/bin/true", []string{"true"}, &os.ProcAttr{})
			if err == nil {
				break
			}
		}
	}
	for {
		_ = unix.Pause() // a signal ended it
	}
}

// threadsTool starts threads, each of which waits for ever.
func threadsTool(args []string) error {
	count, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	var up sync.WaitGroup
	for range count {
		up.Add(1)
		go func() {
			runtime.LockOSThread()
			up.Done()
			for {
				_ = unix.Pause() // a signal ended it
			}
		}()
	}
	up.Wait()
	for {
		_ = unix.Pause()
	}
}

// TestPIDMax: in a PID namespace of a kernel that can, no case gets further than a
// little beyond the limit, however fast.
func TestPIDMax(t *testing.T) {
	const processes = 300
	r := newRig(t, usual(t), func(o *Options) { o.processes = processes })
	if !kernelSince(t, 6, 14) {
		needed(t, "before Linux 6.14 a PID namespace has no pid_max of its own")
	}
	var own, shown int
	got := strings.Join(r.run("one.c", "echo $$; exec readlink /proc/self"), " ")
	if _, err := fmt.Sscanf(got, `exit 0 stdout "%d\n%d`, &own, &shown); err != nil || own != shown {
		needed(t, "lanes have no /proc of their own here, by which to set it: "+got)
	}
	most := processes + processes/2 + 512
	for least := 8 * possibleCPUs(t); most < least; { // the kernel takes no less
		most *= 2
	}
	want := fmt.Sprintf(`exit 0 stdout "%d\n"`, most)
	if got := strings.Join(r.run("one.c", "cat /proc/sys/kernel/pid_max"), " "); got != want {
		t.Errorf("a case has %s, want %s", got, want)
	}
	for range 5 { // the numbers run out again and again
		r.want(r.run("one.c", "i=0; while [ $i -lt 300 ]; do (:) & i=$((i+1)); done; wait; echo up"), "exit 0", `stdout "up\n"`)
		r.wantClean("next.c")
	}
}

// kernelSince reports whether the kernel is of this release or later.
func kernelSince(t *testing.T, major, minor int) bool {
	t.Helper()
	var name unix.Utsname
	must(t, unix.Uname(&name))
	var a, b int
	_, err := fmt.Sscanf(unix.ByteSliceToString(name.Release[:]), "%d.%d", &a, &b)
	must(t, err)
	return a > major || a == major && b >= minor
}

// possibleCPUs is how many CPUs the kernel is ready for: more than there are, maybe.
func possibleCPUs(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile("/sys/devices/system/cpu/possible") // 0-3
	must(t, err)
	list := strings.TrimSpace(string(text))
	last, err := strconv.Atoi(list[strings.LastIndexAny(list, ",-")+1:])
	must(t, err)
	return last + 1
}
