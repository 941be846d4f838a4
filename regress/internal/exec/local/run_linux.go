package local

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"muster/regress"
	"muster/regress/internal/exec"
	"muster/regress/internal/fault"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
	"muster/regress/lane"
)

// run runs the first cases of a batch with the present helper, and returns their number. An
// error concerns the case after those. If it is errLaneDied, or if ctx has ended, the helper
// is gone, with everything that the case had started.
func (w *worker) run(ctx context.Context, b exec.Batch) (ran int, err error) {
	w.link.bindTo(ctx)
	w.message = w.encodeJobs(b.Jobs)
	if err := w.link.send(w.message); err != nil {
		return 0, errors.Join(err, ctx.Err())
	}
	b.Started(0)
	for {
		var d lane.Answer
		err = w.await(w.crew.o.casePatience(), d.Decode)
		if ended := ctx.Err(); ended != nil || err != nil {
			return ran, errors.Join(err, ended)
		}
		w.recordUsage(d.HelperCPU, d.Floor)
		w.recordInotify(d.NoInotify)
		if d.Stuck {
			left := w.stuckError() // the processes are still below the helper
			w.end()
			w.useFreshRoot()
			return ran, fmt.Errorf("%s: %w", name.Print(b.Jobs[ran].Source.Name), left)
		}
		r, err := w.answer(&d)
		b.Ended(ran, r, err)
		ran++
		if d.HelperEnds {
			w.crew.retired.Add(1)
			w.endOrWarn()
		}
		if d.BatchEnds || ran == len(b.Jobs) {
			return ran, nil
		}
		b.Started(ran)
	}
}

// encodeJobs returns the message that asks for the jobs.
func (w *worker) encodeJobs(jobs []exec.Job) []byte {
	w.batch.Jobs = w.batch.Jobs[:0]
	for i := range jobs {
		j := &jobs[i]
		args := j.Command.Args(j.Source.Name)
		if w.plain {
			args = replaceCanonical(args, w.root)
		}
		w.batch.Jobs = append(w.batch.Jobs, lane.Job{Source: sourceItem(j), Path: j.Command.Path, Args: args, Stdin: j.Command.Stdin, Observe: j.Observe, Fork: j.Fork, NewServer: j.NewServer})
	}
	return w.batch.AppendFrame(w.message)
}

// sourceItem returns the case's own file.
func sourceItem(j *exec.Job) lane.Item {
	it := item(j.Source)
	it.Name = j.Command.PlacedName(it.Name)
	if j.Content != nil {
		it.Literal, it.Content, it.Size = true, string(j.Content), int64(len(j.Content))
	}
	return it
}

func (w *worker) answer(d *lane.Answer) (*exec.Result, error) {
	if d.NoServer {
		return nil, &exec.NoServer{Why: d.Fault}
	}
	if d.Fault != "" {
		return nil, w.crew.helperFault(d.Fault, d.CorpusChanged, d.DiskFull)
	}
	return w.buildResult(d)
}

// buildResult returns the result of an answer, with its files in the outbox.
func (w *worker) buildResult(d *lane.Answer) (*exec.Result, error) {
	if w.crew.o.Keep != "" {
		d.Files = nil // they stay where they are
	}
	w.rewriteNames(d.Files)
	t := resultBuilder{w: w, outbox: w.outbox}
	t.parts = make([]outcome.Part, 0, 2+len(d.Files))
	t.contents = make([]exec.Content, 0, 2+len(d.Files))
	err := t.addPart(outcome.Key{Place: outcome.Stdout}, &d.Stdout)
	if err == nil {
		err = t.addPart(outcome.Key{Place: outcome.Stderr}, &d.Stderr)
	}
	for i := 0; i < len(d.Files) && err == nil; i++ {
		err = t.addPart(outcome.Key{Place: outcome.File, Path: d.Files[i].Name}, &d.Files[i])
	}
	if err != nil {
		t.release()
		return nil, fault.Environmentf("take over what a case left: %w", w.crew.withRoomMend(err))
	}
	out := outcome.Outcome{Ending: regress.Ending{Kind: regress.EndingKind(d.Kind), Code: d.Code}, Parts: t.parts}
	cost := outcome.Cost{CPU: d.CPU, Wall: d.Wall, PeakRSS: max(d.Peak, w.floor)}
	r := exec.NewResult(out, cost, w.number, t.contents, t.release)
	if r.Observed = d.Observed; r.Observed != nil {
		completeObservation(r.Observed)
	}
	return r, nil
}

// rewriteNames replaces the lane's path in file names. A case may have made a tree that
// mirrors absolute paths.
func (w *worker) rewriteNames(files []lane.Output) {
	if !w.plain {
		return
	}
	for i := range files {
		files[i].Name = strings.ReplaceAll(files[i].Name, w.root[1:]+"/", Canonical[1:]+"/")
	}
	slices.SortFunc(files, func(a, b lane.Output) int { return strings.Compare(a.Name, b.Name) })
}

// resultBuilder builds a result. Its parts come in their final order.
type resultBuilder struct {
	w        *worker
	outbox   *outbox
	parts    []outcome.Part
	contents []exec.Content
	files    []string // removed on release
}

func (t *resultBuilder) addPart(key outcome.Key, l *lane.Output) error {
	p := outcome.Part{Key: key, Form: outcome.Form(l.Form), Exec: l.Exec, Size: l.Size}
	c := exec.Content{Key: key}
	var err error
	switch {
	case l.Stored != "":
		err = t.addStored(l, &p, &c)
	case p.Form == outcome.Symlink:
		c.Bytes = t.w.toCanonical([]byte(l.Target))
	case p.Form == outcome.Regular:
		// The next message overwrites this one.
		c.Bytes = t.w.toCanonical(slices.Clone(l.Content))
	}
	if c.File == "" && p.Form != outcome.Gone {
		p.Size, p.Digest = int64(len(c.Bytes)), outcome.Of(c.Bytes)
	}
	t.parts, t.contents = append(t.parts, p), append(t.contents, c)
	return err
}

// addStored adds a file of the outbox, and replaces the lane's path in it if the case could
// see that. The file stays there until the result is released: mostly only its digest is used.
func (t *resultBuilder) addStored(l *lane.Output, p *outcome.Part, c *exec.Content) error {
	path := t.outbox.dir + "/" + l.Stored
	if t.files = append(t.files, path); len(t.files) == 1 {
		t.outbox.users.Add(1)
	}
	if t.w.plain {
		if err := rewriteFile(path, t.w.root, Canonical); err != nil {
			return err
		}
	}
	var err error
	c.File = path
	p.Digest, p.Size, err = t.w.digests.digestFile(path, t.w.crew.base.inMemory())
	return err
}

func (t *resultBuilder) release() {
	for _, path := range t.files {
		_ = unix.Unlink(path) // the outbox is removed anyway
	}
	if len(t.files) > 0 {
		t.outbox.release()
	}
}

// pulse is the part of a thread's state that changes while the thread makes progress. On an
// overloaded machine a thread that waits for a CPU stays in state R, however long it waits.
// A stuck thread is in another state, and neither its CPU time nor its turns change.
type pulse struct {
	state byte
	times string // CPU, in the steps of the kernel's clock
	turns string // CPU and waiting in ns, and how often it ran; empty without CONFIG_SCHED_INFO
}

// progressed reports whether one of the threads runs or waits for a CPU, or whether any
// began, ended, ran or fell asleep between the two looks.
func progressed(before, now map[int]pulse) bool {
	for _, p := range now {
		if p.state == 'R' {
			return true
		}
	}
	return !maps.Equal(before, now)
}

// pulses reads the pulse of each thread of some processes, by thread number.
func readPulses(of ...process) map[int]pulse {
	found := map[int]pulse{}
	for _, p := range of {
		tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/[0-9]*", p.pid))
		for _, task := range tasks {
			line, err := os.ReadFile(task + "/stat")
			if err != nil {
				continue
			}
			if thread, ok := parseStat(line); ok && !thread.ended() {
				turns, _ := os.ReadFile(task + "/schedstat")
				found[thread.pid] = pulse{thread.state, thread.times, string(turns)}
			}
		}
	}
	return found
}

// digester computes digests of files, and reuses its memory. The outputs of a case are read
// once, and seldom by anybody else. One goroutine uses it.
type digester struct {
	hash hash.Hash
	buf  []byte
}

// digestBuffer fits into the CPU's first cache with the data that is read into it: a larger
// one takes 15 % longer over 125 KB.
const digestBuffer = 16 << 10

func (d *digester) digestFile(path string, inMemory bool) (sum outcome.Digest, size int64, err error) {
	if d.hash == nil {
		d.hash, d.buf = sha256.New(), make([]byte, digestBuffer)
	}
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return sum, 0, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	read := unix.Read
	if inMemory {
		read = lane.ReadNow
	}
	d.hash.Reset()
	for {
		n, err := read(fd, d.buf)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return sum, 0, &fs.PathError{Op: "read", Path: path, Err: err}
		}
		_, _ = d.hash.Write(d.buf[:n]) // it never fails
		size += int64(n)
		if n < len(d.buf) { // the end of a regular file
			d.hash.Sum(sum[:0])
			return sum, size, nil
		}
	}
}

// process is one line of /proc/PID/stat, or of a thread's stat. Other files there contain
// more, but reading them waits for a process that is stuck in its memory.
type process struct {
	pid, parent int
	command     string
	state       byte
	times       string // user and system CPU
	born        string // start time: a later process may have the same number
}

func (p process) ended() bool { return p.state == 'Z' || p.state == 'X' }

// stopped reports whether a signal has stopped the process. A debugger's stop does not count.
func (p process) stopped() bool { return p.state == 'T' }

// descendants lists the processes below another, zombies included.
func descendants(top int) (found []process) {
	all := readProcesses()
	for _, pid := range slices.Sorted(maps.Keys(all)) {
		if p := all[pid]; pid != top && isBelow(all, p, top) {
			found = append(found, p)
		}
	}
	return found
}

// livingBelow lists the descendants that have not ended.
func livingBelow(top int) []process {
	return slices.DeleteFunc(descendants(top), process.ended)
}

func isBelow(all map[int]process, p process, top int) bool {
	for range len(all) { // parents may have changed while the processes were read
		if p.pid == top {
			return true
		}
		p = all[p.parent]
	}
	return false
}

// readProcesses reads the state of all processes, by number.
func readProcesses() map[int]process {
	all := map[int]process{}
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range files {
		if line, err := os.ReadFile(file); err == nil {
			if p, ok := parseStat(line); ok {
				all[p.pid] = p
			}
		}
	}
	return all
}

// readProcess reads the state of one process.
func readProcess(pid int) (p process, ok bool) {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return process{}, false
	}
	return parseStat(line)
}

// parseStat parses a number, a name in brackets that may contain any bytes, a state, the
// parent's number, and the times after that (proc_pid_stat(5)).
func parseStat(line []byte) (process, bool) {
	const state, parent, user, system, born = 0, 1, 11, 12, 19
	from, to := bytes.IndexByte(line, '('), bytes.LastIndexByte(line, ')')
	if from < 0 || to < from {
		return process{}, false
	}
	fields := bytes.Fields(line[to+1:])
	if len(fields) <= born {
		return process{}, false
	}
	p := process{
		command: string(line[from+1 : to]),
		state:   fields[state][0],
		times:   string(fields[user]) + " " + string(fields[system]),
		born:    string(fields[born]),
	}
	var err1, err2 error
	p.pid, err1 = strconv.Atoi(string(bytes.TrimSpace(line[:from])))
	p.parent, err2 = strconv.Atoi(string(fields[parent]))
	return p, err1 == nil && err2 == nil
}
