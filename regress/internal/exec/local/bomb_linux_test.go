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

// A bomb of these tests starts bombThreads threads, or processes that double in each of bombGenerations. Its case
// may have bombLimit. The tests do not let a fork fail: where one fails, a bomb mostly ends by itself, and it is
// the scheduler's choice whether a look comes first.
const (
	bombGenerations = "5"
	bombThreads     = "60"
	bombLimit       = 20
)

// bombs are scripts that start more processes or threads than their case may have. They
// stay, with a mark on the command line of what stays longest.
func bombs(mark string) map[string]string {
	const each = "if [ $1 -gt 0 ]; then set -- $(($1-1)); "
	stay := "fi; exec sleep 86400." + mark
	alone := `trap "" TERM HUP INT; ` + each + "setsid sh ./b $1 & setsid sh ./b $1 & " + stay
	return map[string]string{
		"waited for":                 "b() { " + each + "b $1 & b $1 & " + stay + "; }; b " + bombGenerations,
		"left behind":                "b() { " + each + "b $1 & b $1 & " + stay + "; }; b " + bombGenerations + " & sleep 86400." + mark,
		"pipes":                      "b() { " + each + "b $1 | b $1 & " + stay + "; }; b " + bombGenerations,
		"each in its own session":    "echo '" + alone + "' > b; exec sh b " + bombGenerations,
		"children that are not read": "exec " + self("zombies", bombThreads, mark),
		"threads":                    "exec " + self("threads", bombThreads, mark),
	}
}

// TestForkBomb: a case that starts more than it may is ended, all of it, and
// neither its lane nor another notices.
func TestForkBomb(t *testing.T) {
	inAllModes(t, func(r *rig) {
		plain := r.crew.o.plain
		r = newRig(r.T, r.corpus, bounded, func(o *Options) { o.plain, o.Lanes = plain, 2 })
		for name, text := range bombs("MARK") {
			r.sub(name, func(r *rig) { r.want([]string{r.explode(text)}, "out-of-memory") })
		}
	})
}

func bounded(o *Options) {
	o.processes, o.Timeout, o.Grace = bombLimit, 20*time.Second, time.Millisecond
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
	r := newRig(t, usual(t), plainly, bounded)
	for name, text := range bombs("MARK") {
		r.sub(name, func(r *rig) { r.want([]string{r.explode(text)}, "out-of-memory") })
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
