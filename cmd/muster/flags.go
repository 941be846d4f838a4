package main

import (
	"runtime"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"muster/regress"
)

// flagGroup adds one group of flags, bound to the options.
type flagGroup func(*pflag.FlagSet, *regress.Options)

func corpusFlags(f *pflag.FlagSet, o *regress.Options) {
	f.StringArrayVar(&o.Corpus.Headers, "headers", nil, "`GLOB` of files that every case sees and that are not cases (default HDR_*); repeatable")
	f.StringArrayVar(&o.Corpus.Context, "context", nil, "`GLOB` of files that every case sees and that are cases too; repeatable")
}

func commandFlags(f *pflag.FlagSet, o *regress.Options) {
	f.BoolVar(&o.Command.Shell, "shell", false, "give the command to /bin/sh -c")
	f.BoolVar(&o.Command.Stdin, "stdin", false, "the source is the command's standard input")
	f.StringArrayVar(&o.Command.Env, "env", nil, "`K=V` in the command's environment; repeatable")
	f.StringArrayVar(&o.Command.PassEnv, "pass-env", nil, "`NAME` of a variable that the command gets from here; repeatable")
	f.BoolVar(&o.Command.NoNetwork, "no-network", false, "run cases without a network; each lane has a loopback of its own")
}

// toolFlags say which files belong to the tool. No case sees them.
func toolFlags(f *pflag.FlagSet, o *regress.Options) {
	f.StringArrayVar(&o.Command.ToolFiles, "tool-file", nil, "`GLOB` of further files that belong to the tool; repeatable")
	f.StringArrayVar(&o.Command.NoToolFiles, "no-tool-file", nil, "`GLOB` of files that do not belong to the tool; repeatable")
}

func selectFlags(f *pflag.FlagSet, o *regress.Options) {
	f.StringArrayVar(&o.Select.Globs, "cases", nil, "only cases that match a `GLOB`; repeatable")
	f.StringArrayVar(&o.Select.Filters, "filter", nil, "only cases whose name matches `RE`, with '!' before it only the others; repeatable")
	f.StringVar(&o.Select.Partition, "partition", "", "only part K of N parts, as `hash:K/N`")
	f.IntVar(&o.Select.Sample, "sample", 0, "only `N` of them, always the same ones")
}

func allCasesFlag(f *pflag.FlagSet, o *regress.Options) {
	f.BoolVar(&o.Select.AllCases, "all-cases", false, "ignore the selection that the golden was recorded with")
}

// recordedFlags relate a check to the recorded corpus and selection.
func recordedFlags(f *pflag.FlagSet, o *regress.Options) {
	allCasesFlag(f, o)
	f.BoolVar(&o.Judge.SameCorpus, "same-corpus", false, "exit 2 if a source, or a file that all cases share, is not the recorded one")
}

func orderFlags(f *pflag.FlagSet, o *regress.Options) {
	f.BoolVar(&o.Select.FailedFirst, "failed-first", false, "begin with what was not identical last time")
}

func limitFlags(f *pflag.FlagSet, o *regress.Options) {
	jobsFlag(f, o)
	caseLimitFlags(f, o)
}

func caseLimitFlags(f *pflag.FlagSet, o *regress.Options) {
	f.Var((*timeout)(&o.Limits.Timeout), "timeout", "`TIME` for one case, as 10s or 2m; then TERM to all it started (default 1m0s)")
	f.DurationVar(&o.Limits.Grace, "grace", regress.GraceDefault, "`TIME` between TERM and KILL")
	f.Var(&size{&o.Limits.Memory, regress.NoLimit}, "memory", "resident memory for one case and all it started, as 512M or 2G; 0 = no limit (default 0)")
	f.Var(&size{&o.Limits.OutputMax, 0}, "output-max", "bytes that one case may leave, streams and files together (default 64M)")
}

// jobsFlag is the one of the flags on limits that reduce and bisect have, for the others are
// as in the run that they are about. Run has one case, and rerun the jobs of the last run.
func jobsFlag(f *pflag.FlagSet, o *regress.Options) {
	f.IntVarP(&o.Limits.Jobs, "jobs", "j", runtime.GOMAXPROCS(0), "`N` cases at once; 0 runs them one after another, without a pool")
}

// remoteFlags say that an engine runs the cases, and how.
func remoteFlags(f *pflag.FlagSet, o *regress.Options) {
	r := &o.Remote
	f.Var((*remoteURL)(r), "remote", "run on a Remote Execution engine at `URL`, as grpc://HOST:PORT or grpcs://HOST:PORT")
	f.StringVar(&r.Instance, "instance", "", "`NAME` of one of several that the engine has")
	f.StringArrayVar(&r.Headers, "remote-header", nil, "`K=V` that goes with every request to the engine; repeatable")
	f.StringArrayVar(&r.Inputs, "remote-input", nil, "file or folder at `PATH` that travels with the cases; repeatable")
	f.VarPF((*bundled)(r), "remote-bundle", "", "the command travels, with its shared libraries; else it is a path on the workers").NoOptDefVal = "true"
	f.StringArrayVar(&r.Outputs, "remote-output", nil, "what a case leaves, as `GLOB`: a name as {stem}.s, or in a folder as out/*.o, where the engine gives no whole folder; repeatable")
	f.IntVar(&r.Jobs, "remote-jobs", 0, "`N` cases at once on the engine, in the place of --jobs (default 64)")
	f.DurationVar(&r.Wait, "remote-wait", 0, "`TIME` for an engine that is away or busy, at the beginning 1s unless set (default 30s)")
	f.BoolVar(&r.Fallback, "remote-fallback", false, "run on this machine if the engine cannot be reached at the beginning")
	f.IntVar(&r.Priority, "remote-priority", 0, "`N` as the engine has priorities; 0 is its usual one")
	f.StringArrayVar(&r.Platform, "platform", nil, "`K=V` that a worker must have; repeatable")
	f.Var((*commandWords)(&r.Preflight), "preflight", "`COMMAND` that shows that the tool runs on the engine (default COMMAND --version)")
	f.StringVar(&r.CA, "tls-ca", "", "`FILE` with the certificates to trust (PEM) in the place of the system's")
	f.StringVar(&r.Cert, "tls-cert", "", "`FILE` with this client's certificate (PEM)")
	f.StringVar(&r.Key, "tls-key", "", "`FILE` with its key (PEM)")
}

// remoteGiven are the flags of an engine, but its address, that the command line has and
// that say something: of what a configuration file says of an engine no run need make use.
func remoteGiven(f *pflag.FlagSet) (list []string) {
	ofEngine := pflag.NewFlagSet("engine", pflag.ContinueOnError)
	remoteFlags(ofEngine, &regress.Options{})
	f.Visit(func(given *pflag.Flag) {
		if ofEngine.Lookup(given.Name) != nil && given.Name != "remote" && given.Value.String() != given.DefValue {
			list = append(list, "--"+given.Name)
		}
	})
	return list
}

func storeFlags(f *pflag.FlagSet, o *regress.Options) {
	goldenFlag(f, o)
	stateFlag(f, o)
}

func goldenFlag(f *pflag.FlagSet, o *regress.Options) {
	f.StringVar(&o.Store.Golden, "golden", regress.GoldenDefault, "`FILE` that holds the golden outcomes, or its http(s) address")
}

func stateFlag(f *pflag.FlagSet, o *regress.Options) {
	f.StringVar(&o.Store.State, "state", ".muster", "`DIR` for runs and caches")
}

func resumeFlag(f *pflag.FlagSet, o *regress.Options) {
	f.BoolVar(&o.Store.Resume, "resume", false, "go on with the interrupted run; fails if the tool, the corpus or the flags changed")
}

func normalizeFlag(f *pflag.FlagSet, o *regress.Options) {
	f.StringArrayVar(&o.Judge.Normalize, "normalize", nil, "rewrite before comparing, as `[GLOB:]s/RE/REPL/`; repeatable")
}

func recordFlags(f *pflag.FlagSet, o *regress.Options) {
	f.IntVar(&o.Judge.Repeat, "repeat", regress.RepeatDefault, "`N` runs of every case, to find what differs from run to run")
	f.BoolVar(&o.Judge.AllowFailures, "allow-failures", false, "write the golden although every case fails")
}

func checkFlags(f *pflag.FlagSet, o *regress.Options) {
	f.IntVar(&o.Judge.Retries, "retries", regress.RetriesDefault, "`N` further runs of a case that differs")
	allowFlag(f, o)
	f.BoolVar(&o.Judge.Strict, "strict", false, "exit 1 also when something was not compared")
	f.StringArrayVar(&o.Judge.FailOn, "fail-on", nil, "exit 1 also when the tool's cost rose: `LIMITS` as cpu>5%,memory>10%")
	f.IntVar(&o.Judge.CostCases, "cost-cases", regress.CostCasesDefault, "`N` cases that the golden's command runs again, in turns with yours, to tell what the change costs; 0 tells nothing")
	f.IntVar(&o.Select.FailFast, "fail-fast", 0, "stop after `N` cases that are not identical (default never)")
}

func runsFlag(f *pflag.FlagSet, o *regress.Options) {
	f.IntVar(&o.Judge.Runs, "runs", 1, "run identical cases `N` times, to find rare differences")
}

func allowFlag(f *pflag.FlagSet, o *regress.Options) {
	f.StringSliceVar(&o.Judge.Allow, "allow", nil, "`VERDICTS` of flaky,new,missing that do not make the exit status 1")
}

func reportFlags(f *pflag.FlagSet, o *regress.Options) {
	shownFlags(f, o)
	f.StringVar(&o.Report.Events, "events", "", "write every event to `FILE` as it happens, as JSON lines that muster replay reads")
}

// quietFlag is for a command that shows how far it is, and has nothing else to leave out.
func quietFlag(f *pflag.FlagSet, o *regress.Options) {
	f.BoolVarP(&o.Report.Quiet, "quiet", "q", false, "no progress")
}

// shownFlags are those that say how a run is shown, while it runs or again.
func shownFlags(f *pflag.FlagSet, o *regress.Options) {
	formatFlag(f, o)
	f.BoolVarP(&o.Report.Quiet, "quiet", "q", false, "only warnings and how it ended")
	f.BoolVarP(&o.Report.Verbose, "verbose", "v", false, "every case, identical ones too")
	f.StringVar(&o.Report.JUnit, "junit", "", "write a JUnit report to `FILE`")
	f.StringVar(&o.Report.HTML, "html", "", "write the report as one self-contained page to `FILE`")
	f.StringVar(&o.Report.Markdown, "markdown", "", "write a short report to `FILE`, fit for the summary of a CI step")
}

func formatFlag(f *pflag.FlagSet, o *regress.Options) {
	f.Var(newFormat(&o.Report.Format), "format", "`FORMAT` of the results on standard output: text or json")
}

func colourFlag(f *pflag.FlagSet, o *regress.Options) {
	f.Var(newColour(&o.Report.Colour), "color", "colour text auto, always or never; auto is on terminals, unless NO_COLOR is set, and everywhere if CLICOLOR_FORCE is")
}

// acceptedFlags select how much accept prints.
func acceptedFlags(f *pflag.FlagSet, o *regress.Options) {
	f.BoolVarP(&o.Report.Quiet, "quiet", "q", false, "only warnings and how many cases were accepted")
	f.BoolVarP(&o.Report.Verbose, "verbose", "v", false, "the name of every accepted case")
}

// onlyGivenMark annotates a flag that has a value only from the command line.
const onlyGivenMark = "only-given"

// onlyGiven keeps the configuration away from flags of a command on a past run: the run had
// its settings, and other values of today must not replace them.
func onlyGiven(f *pflag.FlagSet, names ...string) {
	for _, name := range names {
		f.Lookup(name).Annotations = map[string][]string{onlyGivenMark: nil}
	}
}

// runFlag names the past run that a command is about.
func runFlag(c *cobra.Command, id *string) {
	c.Flags().StringVar(id, "run", "", "`ID` of the run, or its beginning (default the last)")
}

// settings are the flags of all commands that a configuration file may set.
func settings() *pflag.FlagSet {
	f := pflag.NewFlagSet("settings", pflag.ContinueOnError)
	for _, add := range []flagGroup{
		corpusFlags, commandFlags, toolFlags, selectFlags, orderFlags, limitFlags, storeFlags,
		normalizeFlag, recordFlags, checkFlags, runsFlag, recordedFlags, reportFlags, remoteFlags,
	} {
		add(f, &regress.Options{})
	}
	return f
}

// command builds a command whose flags come from groups, and which runs with
// the options complete: flags, environment, configuration file. A command that
// takes names of cases says how a shell finds them.
func (p *program) command(c *cobra.Command, groups []flagGroup, do func(*cobra.Command, *regress.Options, []string) error, list ...names) *cobra.Command {
	o, broken := p.options()
	if broken == nil {
		colourFlag(c.Flags(), o)
		for _, add := range groups {
			add(c.Flags(), o)
		}
	}
	var from configSource
	from.flags(c.Flags())
	c.DisableFlagsInUseLine = true
	for _, l := range list {
		c.ValidArgsFunction = func(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			return l.complete(c, o, &from, args)
		}
	}
	c.RunE = func(c *cobra.Command, args []string) error {
		if broken != nil {
			return broken
		}
		if err := regress.CheckLimits(); err != nil { // help and version go with less
			return err
		}
		o.Remote.FlagsGiven = remoteGiven(c.Flags()) // the others are set from here
		if err := from.apply(c.Flags(), o); err != nil {
			return err
		}
		return do(c, o, args)
	}
	return c
}
