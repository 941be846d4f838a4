// Package doctor examines whether a machine can run cases, and proposes remedies. It
// starts the lanes of a run, and observes one case in them, so that it reports what a run would meet.
//
// Input: the options of a run. Output: findings. The caller may add findings about other parts of the
// program. The package must not change the machine, except for temporary files.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"

	"muster/internal/readable"
	"muster/internal/wording"
	"muster/regress"
	"muster/regress/internal/corpus"
	"muster/regress/internal/crew"
	"muster/regress/internal/exec"
	"muster/regress/internal/exec/local"
)

// Examine examines this machine for runs with the jobs, the memory limit, the state folder and the
// helper of the options. An error means that ctx ended.
func Examine(ctx context.Context, o regress.Options) ([]Finding, error) {
	jobs := max(1, o.Limits.Jobs)
	limits := examineLimits(jobs)
	list := []Finding{examineSystem(), limits, examineMemory(jobs, o.Limits.Memory)}
	if limits.State == OK { // else lanes would fail for the same reason
		lanes, err := examineLanes(ctx, &o, jobs)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			f := Finding{Name: "lanes", State: Failed, Text: wording.Of(err)}
			if strings.Contains(f.Text, local.NoPrograms) {
				f.Text, f.Mend, _ = strings.Cut(f.Text, ": ")
			}
			lanes = append(lanes, f)
		}
		list = append(list, lanes...)
	}
	list = append(list, examineState(o.Store.State))
	for i := range list {
		list[i].For = Cases
	}
	return list, nil
}

func examineSystem() Finding {
	f := Finding{Name: "system", Text: fmt.Sprintf("%s/%s, %s", runtime.GOOS, runtime.GOARCH, readable.Count(runtime.GOMAXPROCS(0), "CPU"))}
	if runtime.GOOS != "linux" {
		f.State, f.Mend = Failed, "run record and check on Linux, or on an engine with --remote"
		return f
	}
	var name unix.Utsname
	if unix.Uname(&name) == nil {
		f.Text = "Linux " + readable.Line(unix.ByteSliceToString(name.Release[:])) + ", " + f.Text
	}
	return f
}

// examineLimits compares the limits on open files, processes and address space with the needs of a run.
func examineLimits(jobs int) Finding {
	if err := crew.CheckLimits(jobs); err != nil {
		text, mend, _ := strings.Cut(wording.Of(err), ": ")
		return Finding{Name: "limits", State: Failed, Text: text, Mend: mend}
	}
	return Finding{Name: "limits", Text: "open files, processes and address space suffice for " + readable.Cases(jobs) + " at once"}
}

// examineMemory compares the memory of all cases at once with the free memory.
func examineMemory(jobs int, limit int64) Finding {
	f := Finding{Name: "memory"}
	free := local.AvailableMemory()
	switch {
	case free == 0:
		f.State, f.Text = Limited, "the free memory is not known"
	case limit > 0 && limit > free/int64(jobs):
		f.State = Limited
		f.Text = fmt.Sprintf("%s at once may take %s each, and %s are free", readable.Cases(jobs), readable.BinarySize(limit), readable.BinarySize(free))
		f.Mend = "use fewer --jobs or a lower --memory, or free memory"
	default:
		f.Text = fmt.Sprintf("%s are free for %s at once", readable.BinarySize(free), readable.Cases(jobs))
	}
	return f
}

// examineLanes starts lanes as a run does, and observes one case.
func examineLanes(ctx context.Context, o *regress.Options, jobs int) (list []Finding, err error) {
	dir, err := os.MkdirTemp("", "muster-doctor-")
	if err != nil {
		return nil, fmt.Errorf("no folder for temporary files: %w: set TMPDIR to a folder that you may write to", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := os.WriteFile(filepath.Join(dir, "case"), nil, 0o644); err != nil {
		return nil, err
	}
	c, err := corpus.Open(ctx, corpus.Options{Path: dir})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	var remarks []string
	remark := func(text string) { remarks = append(remarks, text) }
	lanes, err := local.Start(ctx, local.Options{
		Lanes: jobs, Helper: o.Helper, Corpus: c, Timeout: regress.TimeoutDefault, Grace: regress.Grace,
		MemoryMax: max(0, o.Limits.Memory), OutputMax: regress.OutputMaxDefault, Note: remark, Warn: remark,
	})
	if err != nil {
		return nil, err
	}
	observation := observeCase(ctx, lanes, c)
	return append(laneFindings(remarks, jobs), observation), lanes.Close()
}

// laneFindings returns what the start of lanes showed. Each remark is what a run would print.
func laneFindings(remarks []string, jobs int) (list []Finding) {
	for _, text := range remarks {
		f := Finding{Name: "lanes", State: Limited, Text: text}
		switch {
		case strings.HasPrefix(text, local.WithoutNamespaces):
			f.Mend = "allow user namespaces: sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone=1, kernel.apparmor_restrict_unprivileged_userns=0; in a container run it with --privileged or a seccomp profile that allows unshare and mount"
		case strings.HasPrefix(text, local.WorkElsewhere):
			f.Mend = "make /dev/shm larger (in a container: --shm-size), or use fewer --jobs or a lower --output-max"
		}
		list = append(list, f)
	}
	if len(list) == 0 {
		list = append(list, Finding{Name: "lanes", Text: readable.Count(jobs, "lane") + " with user and mount namespaces and inotify, in memory"})
	}
	return list
}

// observeCase observes one case, as a run observes some.
func observeCase(ctx context.Context, e exec.Executor, c *corpus.Corpus) Finding {
	f := Finding{Name: "observation", Text: "the kernel shows which files a tool uses"}
	command, err := exec.Resolve([]string{":"}, true, false)
	var r *exec.Result
	if err == nil {
		r, err = exec.Run(ctx, e, exec.Job{Source: c.Cases()[0], Command: command, Avoid: exec.NoLane, Observe: true})
	}
	switch {
	case err != nil:
		f.State, f.Text = Failed, "a case cannot run: "+wording.Of(err)
		return f
	case r.Observed == nil || r.Observed.Blind != "":
		why := "this system has no way to do that"
		if r.Observed != nil {
			why = r.Observed.Blind
		}
		f.State, f.Text = Limited, "muster knows only the files of a tool that its command shows: "+why
		f.Mend = "use Linux 5.5 or later; in a container allow seccomp with a listener (--security-opt seccomp=unconfined), or name the files with --tool-file"
	}
	r.Release()
	return f
}

// stateRoom is the free space below which a state folder is reported. It holds the outcomes of some
// thousand cases in twenty runs.
const stateRoom = 1 << 30

// examineState looks at the file system of the state folder, which need not exist yet.
func examineState(dir string) Finding {
	f := Finding{Name: "state"}
	at, err := filepath.Abs(dir)
	for err == nil {
		if _, e := os.Stat(at); e == nil || at == filepath.Dir(at) {
			break
		}
		at = filepath.Dir(at)
	}
	var st unix.Statfs_t
	if err == nil {
		err = makeFolder(at)
	}
	if err == nil {
		err = unix.Statfs(at, &st)
	}
	if err != nil {
		f.State, f.Text, f.Mend = Failed, fmt.Sprintf("no folder can be made in %s: %s", readable.Line(at), wording.Of(err)), "name another folder by --state"
		return f
	}
	free := int64(st.Bavail) * int64(st.Bsize)
	f.Text = fmt.Sprintf("%s are free in %s", readable.BinarySize(free), readable.Line(at))
	if free < stateRoom {
		f.State, f.Mend = Limited, "free space there, or name another folder by --state"
	}
	return f
}

// makeFolder makes a folder and removes it. Permissions alone do not show that: root may write
// everywhere, and /proc takes no folders.
func makeFolder(at string) error {
	dir, err := os.MkdirTemp(at, ".muster-doctor-")
	if errors.Is(err, fs.ErrNotExist) {
		return errors.New("its file system takes none")
	}
	if path, ok := errors.AsType[*fs.PathError](err); ok { // its path is that of the new folder
		return path.Err
	}
	if err != nil {
		return err
	}
	return os.Remove(dir)
}
