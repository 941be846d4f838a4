package regress

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"muster/regress/internal/corpus"
	"muster/regress/internal/exec"
	"muster/regress/internal/exec/local"
	"muster/regress/internal/fault"
	"muster/regress/internal/glob"
	"muster/regress/internal/golden"
	"muster/regress/internal/normalize"
	"muster/regress/internal/plan"
	"muster/regress/internal/report"
	"muster/regress/internal/state"
)

// session is one command over a corpus, from its opening to its summary. The
// goroutine that opened it owns it; workers see only what does not change.
type session struct {
	o       *Options
	name    string // of the command
	began   time.Time
	rules   normalize.Rules
	chooser *plan.Chooser
	state   *state.State
	unlock  func()
	run     *state.Run
	out     report.Reporter

	corpus *corpus.Corpus
	cases  []corpus.Entry // selected, in corpus order
	command
	crew *local.Crew

	summary Summary
	counted int // cases, where there is no corpus
	results []state.Result
}

// command is what runs, resolved.
type command struct {
	main   *exec.Command
	byGlob []globbed
}

type globbed struct {
	glob    string
	command *exec.Command
}

// For returns the command for a case.
func (c *command) For(name string) *exec.Command {
	for _, g := range c.byGlob {
		if ok, err := glob.Match(g.glob, name); err == nil && ok {
			return g.command
		}
	}
	return c.main
}

func resolve(c Command) (cmd command, err error) {
	if len(c.Words) > 0 || len(c.ByGlob) == 0 {
		if cmd.main, err = exec.Resolve(c.Words, c.Shell, c.Stdin); err != nil {
			return cmd, err
		}
	}
	for _, g := range c.ByGlob {
		if _, err := glob.Match(g.Glob, "x"); err != nil {
			return cmd, err
		}
		r, err := exec.Resolve(g.Words, c.Shell, c.Stdin)
		if err != nil {
			return cmd, err
		}
		cmd.byGlob = append(cmd.byGlob, globbed{g.Glob, r})
	}
	return cmd, nil
}

// open checks the options and opens the corpus. On an error nothing stays open.
func open(ctx context.Context, o *Options, name string) (_ *session, err error) {
	s := &session{o: o, name: name, began: time.Now(), state: state.Open(o.Store.State), out: report.Tee{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	if err := o.checkAllow(); err != nil {
		return nil, err
	}
	if s.rules, err = normalize.Parse(o.Judge.Normalize); err != nil {
		return nil, fault.Inputf("%w", err)
	}
	if s.chooser, err = selection(&o.Select).Compile(); err != nil {
		return nil, fault.Inputf("%w", err)
	}
	if name == "record" || name == "check" || name == "compare" {
		if s.unlock, err = s.state.Lock(); err != nil {
			return nil, err
		}
	}
	if s.out, err = o.Report.reporters(); err != nil {
		return nil, err
	}
	if s.corpus, err = openCorpus(ctx, o, s.note); err != nil {
		return nil, err
	}
	return s, s.choose()
}

func selection(s *Selection) plan.Selection {
	return plan.Selection{Globs: s.Globs, Filters: s.Filters, Partition: s.Partition, Sample: s.Sample}
}

func openCorpus(ctx context.Context, o *Options, note func(string)) (*corpus.Corpus, error) {
	if o.Corpus.Path == "" {
		return nil, fault.Inputf("no corpus: name an archive, a folder or - before --, as in: muster check corpus.tar -- gofmt {in}")
	}
	return corpus.Open(ctx, corpus.Options{
		Path: o.Corpus.Path, Stdin: o.Corpus.Stdin,
		Spool:   state.Open(o.Store.State).Cache(),
		Headers: o.Corpus.Headers, Context: o.Corpus.Context,
		Exclude: []string{o.Store.Golden, o.Store.State},
		Note:    note,
	})
}

// choose picks the selected cases.
func (s *session) choose() error {
	all := s.corpus.Cases()
	names := make([]string, len(all))
	for i, e := range all {
		names[i] = e.Name
	}
	for _, i := range s.chooser.Choose(names) {
		if only := s.o.Select.only; only == nil || only[all[i].Name] {
			s.cases = append(s.cases, all[i])
		}
	}
	switch {
	case len(all) == 0:
		return fault.Emptyf("%s holds no case", s.o.Corpus.Path)
	case len(s.cases) == 0:
		return fault.Emptyf("none of the %d cases of %s is selected", len(all), s.o.Corpus.Path)
	}
	return nil
}

func (s *session) note(text string) { s.emit(report.Note{Text: text}) }

func (s *session) warn(text string) { s.emit(report.Note{Text: text, Warning: true}) }

// emit passes an event on. A broken output is found again, and returned, by
// the reporters' Close; it must not end the run, whose golden is worth more.
func (s *session) emit(e report.Event) { _ = s.out.Handle(e) }

// startCrew brings up the lanes.
func (s *session) startCrew(ctx context.Context, keep string) error {
	if len(s.o.Helper) == 0 {
		return fault.Environmentf("no lane helper: Options.Helper is empty")
	}
	env, err := s.o.Command.environment()
	if err != nil {
		return err
	}
	s.crew, err = local.Start(ctx, local.Options{
		Lanes: max(1, min(s.o.Limits.Jobs, len(s.cases))), Helper: s.o.Helper, Corpus: s.corpus, Env: env,
		Timeout: s.o.Limits.Timeout, Grace: s.o.Limits.Grace,
		MemoryMax: s.o.Limits.Memory, OutputMax: s.o.Limits.OutputMax,
		Keep: keep, Note: s.warn,
	})
	return err
}

// environment returns what --env and --pass-env add.
func (c *Command) environment() ([]string, error) {
	var env []string
	for _, key := range c.PassEnv {
		if value, ok := os.LookupEnv(key); ok {
			env = append(env, key+"="+value)
		}
	}
	for _, kv := range c.Env {
		if key, _, ok := strings.Cut(kv, "="); !ok || key == "" {
			return nil, fault.Inputf("--env %q: the form is K=V", kv)
		}
		env = append(env, kv)
	}
	return env, nil
}

// identity says what must be the same to go on with an interrupted run, in
// words that an error can use.
func (s *session) identity(ctx context.Context) (map[string]string, error) {
	digest, err := s.corpus.Digest(ctx)
	if err != nil {
		return nil, err
	}
	id := map[string]string{"the corpus": digest.String()}
	s.command.identify("the command", id)
	maps.Copy(id, s.o.flags())
	return id, nil
}

func (c *command) identify(what string, id map[string]string) {
	if c.main != nil {
		id[what] = fmt.Sprintf("%q", c.main.Words)
		id[what+"'s executable"] = c.main.Path + " " + c.main.Digest.String()
	}
	for i, g := range c.byGlob {
		id[fmt.Sprintf("%s %d", what, i)] = fmt.Sprintf("%q %q %s", g.glob, g.command.Words, g.command.Digest)
	}
}

// flags names the settings that change outcomes or the choice of cases.
func (o *Options) flags() map[string]string {
	f := map[string]string{}
	set := func(name string, value any) {
		if text := fmt.Sprint(value); text != "" && text != "[]" && text != "0" && text != "false" && text != "0s" {
			f["--"+name] = text
		}
	}
	list := func(name string, values []string) {
		if len(values) > 0 {
			set(name, fmt.Sprintf("%q", values))
		}
	}
	list("headers", o.Corpus.Headers)
	list("context", o.Corpus.Context)
	list("env", o.Command.Env)
	list("pass-env", o.Command.PassEnv)
	list("cases", o.Select.Globs)
	list("filter", o.Select.Filters)
	list("normalize", o.Judge.Normalize)
	set("shell", o.Command.Shell)
	set("stdin", o.Command.Stdin)
	set("partition", o.Select.Partition)
	set("sample", o.Select.Sample)
	set("timeout", o.Limits.Timeout)
	set("memory", o.Limits.Memory)
	set("output-max", o.Limits.OutputMax)
	return f
}

// differsIn returns the first thing, by name, in which two identities differ.
func differsIn(a, b map[string]string) string {
	keys := slices.Sorted(maps.Keys(a))
	for key := range b {
		if _, ok := a[key]; !ok {
			keys = append(keys, key)
		}
	}
	for _, key := range keys {
		if a[key] != b[key] {
			return key
		}
	}
	return ""
}

// meta is what a golden tells about how it was made.
func (s *session) meta(ctx context.Context) (golden.Meta, error) {
	digest, err := s.corpus.Digest(ctx)
	if err != nil {
		return golden.Meta{}, err
	}
	m := golden.Meta{
		Corpus: digest, Env: s.o.Command.Env, Machine: machine(), MusterVersion: s.o.Versions,
		Created: s.began, Repeat: s.o.Judge.Repeat, Flags: s.o.flags(),
	}
	if c := s.command.main; c != nil {
		m.Command = append(m.Command, golden.Command{Args: c.Words})
		m.Executable, m.ExecutableDigest = c.Path, c.Digest
	}
	for _, g := range s.byGlob {
		m.Command = append(m.Command, golden.Command{Glob: g.glob, Args: g.command.Words})
	}
	return m, nil
}

func machine() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s %s/%s %d CPUs", host, runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
}

// finish fills in the figures of the summary, tells the reporters, and keeps
// the run.
func (s *session) finish(complete bool) error {
	err := s.closeCrew()
	sum := &s.summary
	sum.Command, sum.Cases = s.name, max(len(s.cases), s.counted)
	if s.run != nil {
		sum.Run = s.run.ID
	}
	sum.Wall = time.Since(s.began)
	if sum.Wall > 0 {
		sum.CoresBusy = (sum.CPU + sum.OwnCPU).Seconds() / sum.Wall.Seconds()
	}
	sum.ExitStatus = s.o.status(*sum)
	s.emit(report.Finished{Summary: *sum})
	if s.run == nil {
		return err
	}
	s.run.Finished = complete
	if s.run.Summary, err = marshal(sum, err); err != nil {
		return err
	}
	if err := s.run.SaveResults(s.results); err != nil {
		return err
	}
	return s.run.Save()
}

func (s *session) closeCrew() error {
	if s.crew == nil {
		return nil
	}
	err := s.crew.Close()
	s.summary.OwnCPU = ownCPU() + s.crew.OwnCPU()
	s.crew = nil
	return err
}

// ownCPU returns what this process itself has used since it began.
func ownCPU() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// close releases everything, however far the session got.
func (s *session) close() error {
	errs := []error{s.closeCrew()}
	if s.corpus != nil {
		errs = append(errs, s.corpus.Close())
	}
	errs = append(errs, s.out.Close())
	if s.unlock != nil {
		s.unlock()
	}
	return errors.Join(errs...)
}
