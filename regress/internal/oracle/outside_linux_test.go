package oracle

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"

	"muster/regress"
	"muster/regress/decide"
	"muster/regress/host"
	"muster/regress/internal/fault"
	"muster/regress/internal/outcome"
)

// roundsOutside is how many rounds run the program, where the model could differ from what
// really happens.
const roundsOutside = 6

// TestOracleOutside plays rounds with the program itself, and with a tool that exists: a
// shell script that runs in lanes.
func TestOracleOutside(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	p := newPlace(t)
	program := filepath.Join(t.TempDir(), "muster")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "muster/cmd/muster").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	sums := &tally{}
	setFlag(t, "rapid.checks", roundsOutside)
	// A scenario runs for seconds: to make it small would take minutes.
	setFlag(t, "rapid.shrinktime", 5*time.Second)
	began := time.Now()
	rapid.Check(t, func(rt *rapid.T) {
		r := newRound(rt, p, sums)
		r.stage = newActing(r)
		r.commands = outside(program)
		r.run()
	})
	t.Logf("oracle from outside: %s", sums.line(time.Since(began)))
}

// outside are the commands as a user calls them.
func outside(program string) commands {
	run := func(name string) func(context.Context, regress.Options, host.Host) (regress.Summary, error) {
		return func(ctx context.Context, o regress.Options, h host.Host) (regress.Summary, error) {
			args := append([]string{name, o.Corpus.Path, "--format", "json", "--verbose"}, settings(name, o)...)
			status, err := start(ctx, h.Stdout, program, append(append(args, "--"), o.Command.Words...)...)
			return regress.Summary{Command: name, ExitStatus: status}, err
		}
	}
	accept := func(ctx context.Context, o regress.Options, h host.Host, a decide.AcceptOptions) (int, error) {
		args := append([]string{"accept", "--state", o.Store.State}, a.Names...)
		for flag, set := range map[string]bool{"--all": a.All, "--failing": a.Failing && a.All, "--missing": a.Missing && a.All} {
			if set {
				args = append(args, flag)
			}
		}
		_, err := start(ctx, h.Stdout, program, args...)
		return 0, err
	}
	mergeRuns := func(ctx context.Context, o regress.Options, h host.Host, runs []string) (regress.Summary, error) {
		status, err := start(ctx, h.Stdout, program, append([]string{"merge", "--format", "json", "--verbose", "--state", o.Store.State}, runs...)...)
		return regress.Summary{Command: regress.CheckCommand, ExitStatus: status}, err
	}
	mergeGoldens := func(ctx context.Context, o regress.Options, h host.Host, into string, names []string) error {
		_, err := start(ctx, h.Stdout, program, append([]string{"golden", "merge", "--into", into}, names...)...)
		return err
	}
	return commands{run(regress.RecordCommand), run(regress.CheckCommand), accept, mergeRuns, mergeGoldens}
}

// settings are the options as flags.
func settings(name string, o regress.Options) []string {
	args := []string{
		"--state", o.Store.State, "--golden", o.Store.Golden, "--jobs", fmt.Sprint(o.Limits.Jobs),
		"--output-max", "10000", "--pass-env", passed, "--observe", string(o.Command.Observe),
	}
	for _, glob := range o.Command.ToolFiles {
		args = append(args, "--tool-file", glob)
	}
	if name == regress.RecordCommand {
		args = append(args, "--repeat", fmt.Sprint(o.Judge.Repeat), "--allow-failures")
	} else {
		args = append(args, "--retries", fmt.Sprint(o.Judge.Retries), "--runs", fmt.Sprint(max(1, o.Judge.Runs)), "--cost-cases", "0")
		if o.Judge.Strict {
			args = append(args, "--strict")
		}
	}
	for _, rule := range o.Judge.Normalize {
		args = append(args, "--normalize", rule)
	}
	for _, glob := range o.Judge.Ignore {
		args = append(args, "--ignore", glob)
	}
	for _, set := range o.Command.Env {
		args = append(args, "--env", set)
	}
	if o.Select.Partition != "" {
		args = append(args, "--partition", o.Select.Partition)
	}
	if o.Command.Shell {
		args = append(args, "--shell")
	}
	if o.Store.Resume {
		args = append(args, "--resume")
	}
	return args
}

// start runs the program, with an interrupt when ctx ends. An error has the class that the
// exit status stands for.
func start(ctx context.Context, to io.Writer, program string, args ...string) (status int, err error) {
	c := exec.CommandContext(ctx, program, args...)
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	var notes bytes.Buffer
	c.Stdout, c.Stderr = to, &notes
	err = c.Run()
	if c.ProcessState == nil {
		return 0, err
	}
	status = c.ProcessState.ExitCode()
	said := errors.New(notes.String())
	switch status {
	case regress.StatusClean, regress.StatusDiffers:
		return status, nil
	case regress.StatusInput:
		return status, fault.Inputf("%w", said)
	case regress.StatusEmpty:
		return status, fault.Emptyf("%w", said)
	case regress.StatusInterrupted:
		return status, fault.Interruptedf("%w", said)
	}
	return status, fault.Environmentf("%w", said)
}

// acting is a stage of lanes: a script acts the faces of the model there, and logs its runs.
type acting struct {
	*world
	dir  string
	ids  map[*model]int
	read int      // bytes of the log that are in the world
	fifo *os.File // the run that is to be cut writes to it
	over chan struct{}
}

// actor takes the number of its run and of its turn by making folders, which succeeds once.
// The run that is to be cut reports that it began, and waits for the interrupt.
const actor = `ulimit -c 0; d=DIR; n=$(ls $d/runs | wc -l)
while ! mkdir $d/runs/$n 2>/dev/null; do n=$((n+1)); done
if [ $n = $(cat $d/cut) ]; then echo >$d/fifo; exec sleep 1000; fi
t=$(cat $d/tool).$3; k=$(ls $d/turns | grep -c "^$t[.]")
while ! mkdir $d/turns/$t.$k 2>/dev/null; do k=$((k+1)); done
echo $3 $k $n >>$d/log
of=$(cat $d/faces/$t 2>/dev/null) || { t=added; of=1; }
. $d/faces/$t.$((k % of))
`

func newActing(r *round) *acting {
	s := &acting{world: r.world, dir: r.path("acting"), ids: map[*model]int{}}
	r.must(os.RemoveAll(s.dir))
	for _, name := range []string{"runs", "turns", "faces"} {
		r.must(os.MkdirAll(filepath.Join(s.dir, name), 0o755))
	}
	r.must(s.write("log", ""))
	r.must(s.write("faces/added.0", script((&model{}).conduct("").face(0))))
	r.must(syscall.Mkfifo(filepath.Join(s.dir, "fifo"), 0o600))
	r.actor = strings.ReplaceAll(actor, "DIR", s.dir)
	r.must(r.write("bin/tool"))
	return s
}

func (s *acting) write(name, text string) error {
	return os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o644)
}

// possible leaves out what takes an executor's help.
func (s *acting) possible(plan disturbance) disturbance {
	plan.fail, plan.turn = -1, -1
	return plan
}

// use writes down the faces of a tool. Limits take long, so that one stands for all.
func (s *acting) use(t *model) error {
	id, known := s.ids[t]
	if !known {
		id = len(s.ids)
		s.ids[t] = id
	}
	for name, c := range t.cases {
		for i := range c.faces {
			if c.faces[i].ending.Partial() {
				c.faces[i].ending = regress.Ending{Kind: regress.OutputLimit}
			}
		}
		at := fmt.Sprintf("faces/%d.%s", id, name)
		err := s.write(at, fmt.Sprint(len(c.turns)))
		for k := range c.turns {
			err = errors.Join(err, s.write(fmt.Sprintf("%s.%d", at, k), script(c.face(k))))
		}
		if err != nil {
			return err
		}
	}
	return errors.Join(s.world.use(t), s.write("tool", fmt.Sprint(id)))
}

// script acts a face.
func script(f face) string {
	var b strings.Builder
	for i, c := range f.parts {
		text := strings.ReplaceAll(c.text, unique, "$n")
		switch to := [...]string{"/dev/stdout", "/dev/stderr", "a", "b"}[i]; {
		case !c.present:
		case c.form == outcome.Symlink:
			fmt.Fprintf(&b, "ln -s %s %s\n", text, to)
		case i < 2:
			fmt.Fprintf(&b, "printf %%s \"%s\" >&%d\n", text, i+1)
		default:
			fmt.Fprintf(&b, "printf %%s \"%s\" >%s\n", text, to)
		}
		if c.exec {
			fmt.Fprintf(&b, "chmod +x %s\n", modelParts[i].Path)
		}
	}
	switch f.ending.Kind {
	case regress.Signalled:
		fmt.Fprintf(&b, "kill -%d $$\n", f.ending.Code)
	case regress.Exited:
		fmt.Fprintf(&b, "exit %d\n", f.ending.Code)
	default:
		b.WriteString("head -c 100000 /dev/zero; exec sleep 1000\n")
	}
	return b.String()
}

func (s *acting) begin(h *host.Host, plan disturbance, cancel context.CancelFunc) error {
	if err := s.world.begin(h, plan, cancel); err != nil {
		return err
	}
	ran, err := os.ReadDir(filepath.Join(s.dir, "runs"))
	if err != nil {
		return err
	}
	number := -1
	if plan.cut >= 0 {
		number = len(ran) + plan.cut
	}
	// Opened for reading alone it would wait for a writer.
	if s.fifo, err = os.OpenFile(filepath.Join(s.dir, "fifo"), os.O_RDWR|syscall.O_NONBLOCK, 0); err != nil {
		return err
	}
	s.over = make(chan struct{})
	go func() {
		defer close(s.over)
		if n, _ := s.fifo.Read(make([]byte, 1)); n > 0 {
			s.cut = true
			cancel()
		}
	}()
	return s.write("cut", fmt.Sprint(number))
}

// end logs the runs: "CASE TURN NUMBER" each.
func (s *acting) end() error {
	err := s.fifo.Close()
	<-s.over
	log, e := os.ReadFile(filepath.Join(s.dir, "log"))
	if err = errors.Join(err, e); err != nil {
		return err
	}
	for line := range bytes.Lines(log[s.read:]) {
		var name string
		var k, n int
		if _, err := fmt.Sscan(string(line), &name, &k, &n); err != nil {
			return err
		}
		s.begun++
		s.log[name] = append(s.log[name], s.tool.conduct(name).face(k).resolved(n))
	}
	s.read = len(log)
	return nil
}
