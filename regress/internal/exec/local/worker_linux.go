package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"muster/internal/cgroup"
	"muster/internal/readable"
	"muster/regress/internal/name"
	"muster/regress/lane"
)

// errLaneDied reports that a helper ended unexpectedly.
var errLaneDied = errors.New("the lane's helper died")

// worker is the parent's side of one lane. One goroutine uses it at a time.
type worker struct {
	crew      *Crew
	number    int
	root      string // the lane's folder
	plain     bool   // its cases see root at its own path, not at Canonical
	noInotify bool   // the kernel grants it no inotify

	// The present helper; nil until the next one starts.
	helper    *exec.Cmd
	link      *link
	stderr    *os.File // the helper's
	outbox    *outbox
	floor     int64         // KiB
	helperCPU time.Duration // CPU time of the helper itself, at its last report

	digests digester
	batch   lane.Batch // reused memory, like message
	message []byte
}

// start starts a helper in mode m, and waits until it is ready. If the helper dies before that, as
// for a moment's lack of memory, start tries again: the next mode would isolate cases less.
func (w *worker) start(ctx context.Context, m *mode) (err error) {
	for range deathsMax {
		if err = w.startOnce(ctx, m); !errors.Is(err, errLaneDied) {
			break
		}
	}
	return err
}

func (w *worker) startOnce(ctx context.Context, m *mode) error {
	w.plain = !m.isolates()
	w.crew.threads.Lock()
	err := w.crew.withRoomMend(w.makeFolders())
	if err == nil {
		err = w.spawn(m)
	}
	w.crew.threads.Unlock()
	if err != nil {
		return err
	}
	if err := w.setUp(ctx); err != nil {
		why, left := w.end()
		switch {
		case left != nil:
			w.crew.o.Warn(left.Error())
		case errors.Is(err, errLaneDied):
			err = fmt.Errorf("%w: %s", err, why)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return err
	}
	return nil
}

// makeFolders makes the lane's folder and its outbox.
func (w *worker) makeFolders() error {
	c := w.crew
	usual := filepath.Join(c.base.dir, fmt.Sprintf("%03d", w.number))
	made := &outbox{dir: fmt.Sprintf("%s.out%d", usual, c.started.Add(1))}
	made.users.Store(1)
	if err := os.Mkdir(made.dir, 0o700); err != nil {
		return err
	}
	w.outbox = made
	if w.root == "" {
		w.root = usual
	}
	if c.o.Keep != "" {
		w.root = c.o.Keep
		return nil
	}
	if removeTree(w.root) != nil {
		w.root = c.freshRoot() // the old one is removed with the base, if possible
	}
	if err := os.Mkdir(w.root, 0o755); err != nil {
		w.outbox.release()
		return err
	}
	return nil
}

// freshRoot names a folder for a lane whose own folder cannot be removed, perhaps because it
// has a mount or processes left in it. The name is as long as the lanes' numbers, and differs
// from all of them.
func (c *Crew) freshRoot() string {
	const first = 10 * 36 * 36 // "a00"
	return filepath.Join(c.base.dir, strconv.FormatInt(first+c.freshRoots.Add(1), 36))
}

// useFreshRoot gives the lane another folder at its next start. Processes that SIGKILL did not
// end may still write to the present folder when they come back.
func (w *worker) useFreshRoot() { w.root = w.crew.freshRoot() }

// helperEnv is the environment of a helper; no case sees it. A helper has one thread that runs
// code, and no signals to interrupt it. It collects no garbage, except of a heap beyond what
// one case explains (see lane's memory).
var helperEnv = []string{"GOMAXPROCS=1", "GODEBUG=asyncpreemptoff=1", "GOGC=off", "GOMEMLIMIT=64MiB"}

// spawn starts the helper with its ends of the link and the corpus.
func (w *worker) spawn(m *mode) (err error) {
	defer func() {
		if err != nil {
			w.outbox.release()
		}
	}()
	l, jobs, answers, err := newLink()
	if err != nil {
		return err
	}
	defer jobs.Close()
	defer answers.Close()
	defer func() {
		if err != nil {
			l.hangUp()
		}
	}()
	corpus := w.crew.o.Corpus.File() // helpers use no file offset, so they may share the description
	if corpus == nil {
		if corpus, err = os.OpenFile(w.crew.o.Corpus.Root(), os.O_RDONLY|syscall.O_DIRECTORY, 0); err != nil {
			return err
		}
		defer corpus.Close()
	}
	errors, err := os.Create(w.outbox.dir + "/errors")
	if err != nil {
		return w.crew.withRoomMend(err)
	}
	command := w.crew.o.Helper
	// No context ends it: a helper ends when its link does, after it has killed the
	// processes of its case.
	cmd := exec.CommandContext(context.Background(), command[0], append(command[1:len(command):len(command)], lane.Argument)...)
	cmd.ExtraFiles = []*os.File{jobs, corpus, answers} // lane.JobsFD, CorpusFD and AnswersFD
	cmd.Stderr = errors
	cmd.Dir = "/"
	cmd.Env = append(helperEnv[:len(helperEnv):len(helperEnv)], helperKey+w.crew.base.dir+"/")
	cmd.SysProcAttr = m.attributes()
	if err := cmd.Start(); err != nil { // ENOSPC here means too many namespaces
		errors.Close()
		return err
	}
	w.helper, w.link, w.stderr, w.helperCPU = cmd, l, errors, 0
	return nil
}

// setUp sends the lane's setup and waits for the answer.
func (w *worker) setUp(ctx context.Context) error {
	setup := w.crew.setup
	setup.Root, setup.Outbox, setup.PIDNamespace = w.root, w.outbox.dir, !w.plain
	setup.Limits = w.crew.limits
	if w.plain {
		setup.Env = replaceCanonical(setup.Env, w.root)
	} else {
		setup.Canonical = Canonical
	}
	w.link.bindTo(ctx)
	var ready lane.Ready
	err := w.link.send(setup.AppendFrame(nil))
	if err == nil {
		err = w.await(readyPatience, ready.Decode)
	}
	if err != nil {
		return err
	}
	w.recordUsage(ready.HelperCPU, ready.Floor)
	if ready.Fault != "" {
		return w.crew.helperFault(ready.Fault, ready.CorpusChanged, ready.DiskFull)
	}
	w.recordInotify(ready.NoInotify)
	return nil
}

// recordUsage records the CPU time and the floor that the present helper reports.
func (w *worker) recordUsage(own time.Duration, floor int64) {
	w.crew.helperCPU.Add(int64(own - w.helperCPU))
	w.helperCPU = own
	if floor == w.floor {
		return
	}
	w.floor = floor
	for all := &w.crew.floor; ; {
		if was := all.Load(); was >= floor || all.CompareAndSwap(was, floor) {
			return
		}
	}
}

// recordInotify records whether the helper has inotify now.
func (w *worker) recordInotify(blind bool) {
	if w.noInotify = blind; blind {
		w.crew.warnNoInotify()
	}
}

// end ends the present helper with its case, waits for it, and returns the known reason of its
// end. A helper may not end: the init of a PID namespace does not end before all processes in
// there. Then end leaves it behind and returns an error. The next start uses another folder.
func (w *worker) end() (why string, left error) {
	if w.helper == nil {
		return "it did not start", nil
	}
	w.link.unbind()
	w.link.hangUp()
	if w.endHelper() {
		why = w.reap()
		w.outbox.release()
	} else {
		left = w.stuckError()
		_ = w.helper.Process.Release()
		w.useFreshRoot()
	}
	w.stderr.Close()
	w.helper, w.helperCPU = nil, 0
	return why, left
}

// endHelper waits for the end of a helper whose link is closed, and reports whether the
// helper ended. A helper that takes too long is killed.
func (w *worker) endHelper() bool {
	patience, pid := &w.crew.o.patience, w.helper.Process.Pid
	w.wake()
	if endsWithin(pid, patience.end) {
		return true
	}
	_ = w.helper.Process.Kill()
	return endsWithin(pid, patience.killed)
}

// endOrWarn is end for callers that return another error, or none.
func (w *worker) endOrWarn() {
	if _, left := w.end(); left != nil {
		w.crew.o.Warn(left.Error())
	}
}

// reap reaps the helper, and returns how it ended.
func (w *worker) reap() (why string) {
	w.crew.threads.Lock()
	defer w.crew.threads.Unlock()
	_ = w.helper.Wait() // its status is checked below
	if code := w.helper.ProcessState.ExitCode(); w.plain && code != 0 && code != 1 {
		endStrays(w.root) // in a PID namespace the kernel has done so
	}
	return w.lastWords()
}

// lastWords returns the first line of the helper's standard error, or its exit status.
func (w *worker) lastWords() string {
	errors := make([]byte, 400)
	n, _ := w.stderr.ReadAt(errors, 0)
	first, _, _ := strings.Cut(strings.TrimSpace(string(errors[:n])), "\n")
	if first != "" {
		return name.Print(first)
	}
	return w.helper.ProcessState.String()
}

// whyUnfit returns why the lanes should not work in the memory folder, or "". Each lane may
// hold the given files, the largest source, and the outputs of a case.
func whyUnfit(dir string, o *Options) string {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil || int64(st.Type) != unix.TMPFS_MAGIC {
		return dir + " is not a file system in memory"
	}
	if unix.Access(dir, unix.W_OK|unix.X_OK) != nil {
		return dir + " cannot be written"
	}
	if st.Flags&unix.ST_NOEXEC != 0 {
		return dir + " " + NoPrograms
	}
	return whyTooSmall(dir, o, min(int64(st.Bavail)*int64(st.Bsize), AvailableMemory()))
}

// whyTooSmall reports that the lanes may need more than the free bytes, or returns "".
func whyTooSmall(dir string, o *Options, free int64) string {
	if need := laneBytes(o); need > free/int64(o.Lanes) {
		each := ""
		if o.Lanes > 1 {
			each = " each"
		}
		return fmt.Sprintf("%s may need %s%s and %s has %s", readable.Count(o.Lanes, "lane"), readable.BinarySize(need), each, dir, readable.BinarySize(free))
	}
	return ""
}

// warnIfSmall warns if cases could fill the lanes' file system. A tool that fills it, and
// removes its files before it ends, seems to fail by itself.
func warnIfSmall(dir string, o *Options) {
	var st unix.Statfs_t
	if unix.Statfs(dir, &st) != nil {
		return
	}
	if why := whyTooSmall(dir, o, int64(st.Bavail)*int64(st.Bsize)); why != "" {
		o.Warn(why + ": a tool that fills it and removes what it wrote seems to fail by itself; free space there, or use fewer --jobs or a lower --output-max")
	}
}

// laneBytes returns how many bytes one lane may hold.
func laneBytes(o *Options) int64 {
	var given, largest int64
	for _, e := range o.Corpus.Given() {
		given += e.Size
	}
	for _, e := range o.Corpus.Cases() {
		largest = max(largest, e.Size)
	}
	return given + largest + min(o.OutputMax, 1<<60) // without overflow
}

// AvailableMemory returns how many bytes can be used without swapping, and within the limit of
// this program's control group, where files in memory count.
func AvailableMemory() int64 {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	var kib int64
	_, rest, _ := strings.Cut(string(text), "MemAvailable:")
	if _, err := fmt.Sscan(rest, &kib); err != nil {
		return 0
	}
	return min(kib<<10, cgroup.MemoryLeft("/proc"))
}
