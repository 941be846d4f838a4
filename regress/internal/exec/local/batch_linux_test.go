package local

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"muster/internal/cgroup"
	"muster/regress/internal/exec"
)

// batch runs scripts for cases as one batch, and again what was left of it until
// nothing is, and says what came of each. each is called before a case's result is
// looked at, with its number.
func (r *rig) batch(each func(i int), nameAndText ...[2]string) (told [][]string, batches int) {
	r.Helper()
	told = make([][]string, len(nameAndText))
	for done := 0; done < len(told); batches++ {
		first := done
		b := exec.Batch{
			Started: func(i int) {
				if first+i < done {
					r.Errorf("case %d started after its end", first+i)
				}
			},
			Ended: func(i int, result *exec.Result, err error) {
				i += first
				done++
				each(i)
				if told[i] != nil {
					r.Errorf("case %d is told twice", i)
				}
				if err != nil {
					told[i] = []string{err.Error()}
					return
				}
				defer result.Release()
				told[i] = r.tell(result)
			},
		}
		for _, j := range nameAndText[first:] {
			b.Jobs = append(b.Jobs, r.job(j[0], j[1]))
		}
		if ran := r.crew.RunAll(context.Background(), b); first+ran != done {
			r.Fatalf("%d ran and %d were told", ran, done-first)
		}
	}
	return told, batches
}

func asTheyCome(int) {}

// together is batch, again until several of the cases did run in one batch: on a busy
// machine each may take so long that it ends its own.
func (r *rig) together(nameAndText ...[2]string) [][]string {
	r.Helper()
	for range 20 {
		if told, batches := r.batch(asTheyCome, nameAndText...); batches < len(told) {
			return told
		}
	}
	r.Fatal("in 20 tries each case had a batch of its own")
	return nil
}

// TestBatch: the cases of a batch are as strange to each other as any.
func TestBatch(t *testing.T) {
	inBothModes(t, usual, func(r *rig) {
		list := "exec " + self("list", "..")
		big := "head -c 100000 /dev/zero > big; cat $1; exit 7"
		told := r.together(
			[2]string{"one.c", big}, [2]string{"sub/two.c", big}, [2]string{"next.c", "kill -KILL $$"},
			[2]string{"sub/deep/three.c", "echo junk > HDR_a.h; rm -r inc; echo x >&2"}, [2]string{"next.c", list}, [2]string{"empty.c", list})
		for i, source := range []string{"source one", "source two"} {
			if got := told[i]; len(got) != 3 || got[0] != "exit 7" || got[1] != fmt.Sprintf("stdout %q", source+"\n") || !strings.HasPrefix(got[2], "big 100000 bytes ") {
				r.Errorf("case %d gave %q", i, got)
			}
		}
		r.want(told[2], "signal 9 (SIGKILL)")
		r.want(told[3], "exit 0", `stderr "x\n"`, `HDR_a.h "junk\n"`, "inc/HDR_b.h gone", "inc/deep/HDR_c.h gone")
		for i, name := range map[int]string{4: "next.c", 5: "empty.c"} {
			if len(told[i]) != 2 {
				r.Errorf("the listing gave %q", told[i])
			}
			r.wantClean(name)
		}
		r.wantNothingOut()
	})
}

// wantNothingOut: no outbox holds what a case left.
func (r *rig) wantNothingOut() {
	r.Helper()
	if left, err := filepath.Glob(filepath.Join(r.crew.base.dir, "*.out*", "[0-9]*")); len(left) > 0 || err != nil {
		r.Errorf("%q is left, %v", left, err)
	}
}

// TestBatchLong: who takes longer keeps nobody waiting, neither those before it for
// being told nor those behind it, which another lane may take.
func TestBatchLong(t *testing.T) {
	inBothModes(t, usual, func(r *rig) {
		p := newPipe(r.T)
		told, batches := r.batch(func(i int) {
			if i == 0 {
				_, err := p.f.WriteString("\n")
				must(r, err)
			}
		}, [2]string{"one.c", "exit 1"}, [2]string{"next.c", "read x < " + p.path + "; exit 2"}, [2]string{"empty.c", "exit 3"})
		r.want(told[0], "exit 1")
		r.want(told[1], "exit 2")
		r.want(told[2], "exit 3")
		if batches != 2 {
			r.Errorf("%d batches", batches)
		}
	})
}

// TestBatchDeath: a helper that dies costs only the case that it died of, and that
// another start.
func TestBatchDeath(t *testing.T) {
	r := newRig(t, usual(t), plainly)
	flag := filepath.Join(t.TempDir(), "flag")
	told, _ := r.batch(asTheyCome,
		[2]string{"one.c", "exit 1"},
		[2]string{"next.c", "[ -e " + flag + " ] && exit 2; : > " + flag + "; kill -KILL $PPID; exec sleep 86400"},
		[2]string{"empty.c", "exit 3"})
	for i := range told {
		r.want(told[i], fmt.Sprintf("exit %d", i+1))
	}
	told, _ = r.batch(asTheyCome, [2]string{"one.c", "exit 1"}, [2]string{"next.c", "kill -KILL $PPID; exec sleep 86400"}, [2]string{"empty.c", "exit 3"})
	r.want(told[0], "exit 1")
	r.want(told[2], "exit 3")
	if len(told[1]) != 1 || !strings.HasPrefix(told[1][0], "next.c: "+errLaneDied.Error()) {
		r.Errorf("%q", told[1])
	}
}

// TestBatchFull: what the parent had no time to take fills no disk for the others.
func TestBatchFull(t *testing.T) {
	if !again(t, asRootOfItsOwn) {
		return
	}
	mountOver(t, memoryFolder, "size=4m", 0)
	inBothModes(t, usual, func(r *rig) {
		const big = "head -c 1300000 /dev/zero > big"
		told, batches := r.batch(asTheyCome, [2]string{"one.c", big}, [2]string{"next.c", big}, [2]string{"empty.c", big})
		for i := range told {
			if len(told[i]) != 2 || told[i][0] != "exit 0" {
				r.Errorf("%d of 3 that fit one by one: %q", i, told[i])
			}
		}
		if batches != 3 {
			r.Errorf("%d batches", batches)
		}
	}, func(o *Options) { o.OutputMax = 3 << 20 })
}

// TestBatchRefused: a case during which a process was refused has no outcome, nor has a later one of the batch.
func TestBatchRefused(t *testing.T) {
	r := newRig(t, usual(t))
	group := shared(t)
	proc := filepath.Join(group, "proc")
	must(t, os.MkdirAll(filepath.Join(proc, "self"), 0o755))
	events := filepath.Join(group, "pids.events.local")
	for name, text := range map[string]string{
		"proc/self/cgroup": "0::/\n", "proc/self/mountinfo": "1 1 0:1 / " + group + " rw - cgroup2 cgroup2 rw\n",
		"pids.max": "10\n", "pids.events.local": "max 0\n",
	} {
		must(t, os.WriteFile(filepath.Join(group, name), []byte(text), 0o666))
	}
	r.crew.refusals.Close()
	r.crew.refusals = cgroup.OpenRefusals(proc)
	r.want(r.run("one.c", "exit 1"), "exit 1")
	told, batches := r.batch(asTheyCome, [2]string{"next.c", "echo max 1 > " + events + "; exit 2"}, [2]string{"empty.c", "exit 3"})
	for _, got := range told[:3-batches] { // on a busy machine each has a batch of its own
		if len(got) != 1 || !strings.Contains(got[0], "a process was refused") {
			t.Errorf("%q", got)
		}
	}
	r.want(r.run("one.c", "exit 1"), "exit 1")
}
