package main

import (
	"runtime"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"muster/regress"
)

// flagGroup adds one group of flags that set the options.
type flagGroup func(*pflag.FlagSet, *regress.Options)

func corpusFlags(f *pflag.FlagSet, o *regress.Options) {
	f.StringArrayVar(&o.Corpus.Headers, "headers", nil, "give shared files that match `GLOB` to every case; they are not cases; repeatable (default HDR_*)")
	f.StringArrayVar(&o.Corpus.Context, "context", nil, "give shared files that match `GLOB` to every case; they are cases too; repeatable")
}

func commandFlags(f *pflag.FlagSet, o *regress.Options) {
	f.BoolVar(&o.Command.Shell, "shell", false, "give the command to /bin/sh -c")
	f.BoolVar(&o.Command.Stdin, "stdin", false, "give the source to the command as its standard input")
	f.StringVar(&o.Command.As, "as", "", "give every source the name `NAME` in its work folder; not on an engine")
	f.StringArrayVar(&o.Command.Env, "env", nil, "set the variable `K=V` for the command; repeatable")
	f.StringArrayVar(&o.Command.PassEnv, "pass-env", nil, "pass `NAME` from your environment to the command; repeatable")
	f.BoolVar(&o.Command.NoNetwork, "no-network", false, "let cases reach only a private loopback interface")
}

// toolFlags select the tool's files, which no case sees.
func toolFlags(f *pflag.FlagSet, o *regress.Options) {
	f.StringArrayVar(&o.Command.ToolFiles, "tool-file", nil, "treat files that match `GLOB` as part of the tool; repeatable")
	observe := newChoice(&o.Command.Observe, "WHICH", "a choice: all, some or none", regress.ObserveSome, regress.ObserveAll, regress.ObserveNone)
	f.Var(observe, "observe", "look for files of the tool on `WHICH` cases: all, some or none")
	f.StringArrayVar(&o.Command.NoToolFiles, "no-tool-file", nil, "do not treat files that match `GLOB` as part of the tool; repeatable")
}

func selectFlags(f *pflag.FlagSet, o *regress.Options) {
	f.StringArrayVar(&o.Select.Globs, "cases", nil, "take only cases that match `GLOB`; repeatable")
	f.StringArrayVar(&o.Select.Filters, "filter", nil, "take only cases whose names match `RE`; '!RE' takes only the others; repeatable")
	f.StringVar(&o.Select.Partition, "partition", "", "take only the K-th of N parts, by a hash of the names: `hash:K/N`")
	f.IntVar(&o.Select.Sample, "sample", 0, "take only `N` cases, always the same ones")
}

func allCasesFlag(f *pflag.FlagSet, o *regress.Options) {
	f.BoolVar(&o.Select.AllCases, "all-cases", false, "ignore the selection that the golden was recorded with")
}

func orderFlags(f *pflag.FlagSet, o *regress.Options) {
	f.BoolVar(&o.Select.FailedFirst, "failed-first", false, "begin with the cases that were not identical last time")
}

func limitFlags(f *pflag.FlagSet, o *regress.Options) {
	jobsFlag(f, o)
	caseLimitFlags(f, o)
}

func caseLimitFlags(f *pflag.FlagSet, o *regress.Options) {
	f.Func("timeout", "end a case after `TIME`, such as 10s or 2m (default 1m0s)", setTimeout(&o.Limits.Timeout))
	memoryFlag(f, o)
	f.Var(&size{&o.Limits.OutputMax, 0}, "output-max", "end a case whose streams and files exceed `SIZE` (default 64M)")
}

func memoryFlag(f *pflag.FlagSet, o *regress.Options) {
	f.Var(&size{&o.Limits.Memory, regress.NoLimit}, "memory", "end a case that uses more memory than `SIZE`, such as 512M or 2G; 0 = no limit (default 0)")
}

// jobsFlag is the only limit that reduce and bisect have, because the others are those of the
// run that they examine. Run has one case, and rerun has the jobs of the last run.
func jobsFlag(f *pflag.FlagSet, o *regress.Options) {
	f.IntVarP(&o.Limits.Jobs, "jobs", "j", runtime.GOMAXPROCS(0), "run `N` cases at once; 0 = one at a time without the worker pool")
	defaultByMachine(f, "jobs", "the processors that muster may use")
}

// remoteFlags select an engine that runs the cases.
func remoteFlags(f *pflag.FlagSet, o *regress.Options) {
	f.StringVar(&o.Remote.URL, "remote", "", "run on the Remote Execution engine at `URL`, as grpc[s]://HOST:PORT; '' is this machine")
	f.StringVar(&o.Remote.Name, "engine", "", "run on the engine that [engine.`NAME`] of the settings file describes, not [engine]")
}

// engineKeys are the keys of an engine's table.
func engineKeys(r *regress.Remote) *pflag.FlagSet {
	f := pflag.NewFlagSet("engine", pflag.ContinueOnError)
	f.StringVar(&r.URL, "url", "", "")
	f.StringVar(&r.Instance, "instance", "", "")
	f.StringArrayVar(&r.Inputs, "input", nil, "")
	f.BoolVar(&r.Bundle, "bundle", false, "")
	f.StringArrayVar(&r.Outputs, "output", nil, "")
	f.IntVar(&r.Jobs, "jobs", 0, "")
	f.DurationVar(&r.Wait, "wait", 0, "")
	f.IntVar(&r.Priority, "priority", 0, "")
	f.StringArrayVar(&r.Platform, "platform", nil, "")
	f.Var((*commandWords)(&r.Preflight), "preflight", "")
	f.StringVar(&r.CA, "tls-ca", "", "")
	f.StringVar(&r.Cert, "tls-cert", "", "")
	f.StringVar(&r.Key, "tls-key", "", "")
	return f
}

func storeFlags(f *pflag.FlagSet, o *regress.Options) {
	goldenFlag(f, o)
	stateFlag(f, o)
}

func goldenFlag(f *pflag.FlagSet, o *regress.Options) {
	f.StringVar(&o.Store.Golden, "golden", regress.GoldenDefault, "use the golden in `FILE`, or at an http(s) address")
}

func stateFlag(f *pflag.FlagSet, o *regress.Options) {
	f.StringVar(&o.Store.State, "state", ".muster", "keep runs and caches in `DIR`")
}

func resumeFlag(f *pflag.FlagSet, o *regress.Options) {
	f.BoolVar(&o.Store.Resume, "resume", false, "continue the interrupted run")
}

func comparisonFlags(f *pflag.FlagSet, o *regress.Options) {
	f.StringArrayVar(&o.Judge.Normalize, "normalize", nil, "rewrite the streams and files that match GLOB before comparing: `[GLOB:]s/RE/REPL/`; repeatable")
	f.StringArrayVar(&o.Judge.Ignore, "ignore", nil, "do not compare parts that match `GLOB`, such as *.log, cache/** or stderr; repeatable")
}

func recordFlags(f *pflag.FlagSet, o *regress.Options) {
	f.IntVar(&o.Judge.Repeat, "repeat", regress.RepeatDefault, "run every case `N` times, to find parts that differ from run to run")
	f.DurationVar(&o.Judge.RepeatAfter, "repeat-after", regress.RepeatAfterDefault, "begin the second run of a case at least this `DURATION` after its first one, to find times in the output")
	f.BoolVar(&o.Judge.AllowFailures, "allow-failures", false, "write the golden although every case fails")
}

func checkFlags(f *pflag.FlagSet, o *regress.Options) {
	f.IntVar(&o.Judge.Retries, "retries", regress.RetriesDefault, "run a case `N` more times if it differs")
	allowFlag(f, o)
	f.BoolVar(&o.Judge.Strict, "strict", false, "also exit with 1 if a part was not compared")
	f.StringArrayVar(&o.Judge.FailOn, "fail-on", nil, "also exit with 1 if the tool's cost rose by more than `LIMITS`, such as cpu>5%,memory>10%")
	f.IntVar(&o.Judge.CostCases, "cost-cases", regress.CostCasesDefault, "measure the cost of the change on `N` cases; 0 measures nothing")
	f.IntVar(&o.Select.FailFast, "fail-fast", 0, "stop after `N` cases that are not identical (default never)")
}

func reuseFlag(f *pflag.FlagSet, o *regress.Options) {
	f.BoolVar(&o.Store.Reuse, "reuse", false, "take the outcome of an earlier check where nothing changed since; needs --no-network")
	f.StringVar(&o.Store.RemoteCache, "remote-cache", "", "like --reuse, and share outcomes with other machines through the cache at `URL`")
}

func forkServerFlag(f *pflag.FlagSet, o *regress.Options) {
	f.BoolVar(&o.Store.ForkServer, "fork-server", false, "start the command once per lane, and fork it for each case; needs --as")
}

func runsFlag(f *pflag.FlagSet, o *regress.Options) {
	f.IntVar(&o.Judge.Runs, "runs", 1, "run identical cases `N` times in all, to find rare differences")
}

func allowFlag(f *pflag.FlagSet, o *regress.Options) {
	f.StringSliceVar(&o.Judge.Allow, "allow", nil, "exit with 0 if only cases with these `VERDICTS` differ: any of flaky,new,missing")
}

func reportFlags(f *pflag.FlagSet, o *regress.Options) {
	formatFlag(f, o)
	f.BoolVarP(&o.Report.Quiet, "quiet", "q", false, "print only warnings and the result")
	f.BoolVarP(&o.Report.Verbose, "verbose", "v", false, "print every case, identical ones too")
	f.StringVar(&o.Report.JUnit, "junit", "", "write a JUnit report to `FILE`")
	f.StringVar(&o.Report.HTML, "html", "", "write the report as one self-contained page to `FILE`")
	f.StringVar(&o.Report.Markdown, "markdown", "", "write a short report to `FILE`, fit for the summary of a CI step")
	github := newChoice(&o.Report.GitHub, "WHEN", "a choice: auto, on or off", regress.GitHubAuto, regress.GitHubOn, regress.GitHubOff)
	f.Var(github, "github", "annotate the step of GitHub Actions: auto, on or off")
	f.StringVar(&o.Report.Events, "events", "", "write every event to `FILE`, as JSON lines")
}

// quietFlag is for a command that shows progress and has no other optional output.
func quietFlag(f *pflag.FlagSet, o *regress.Options) {
	f.BoolVarP(&o.Report.Quiet, "quiet", "q", false, "show no progress")
}

func formatFlag(f *pflag.FlagSet, o *regress.Options) {
	f.Var(newFormat(&o.Report.Format), "format", "print results as `FORMAT`: text or json")
}

func colourFlag(f *pflag.FlagSet, o *regress.Options) {
	colour := newChoice(&o.Report.Colour, "WHEN", "a choice: auto, always or never", regress.ColourAuto, regress.ColourAlways, regress.ColourNever)
	f.Var(colour, "color", "when to colour text: auto, always or never")
}

// acceptedFlags control how much accept prints.
func acceptedFlags(f *pflag.FlagSet, o *regress.Options) {
	f.BoolVarP(&o.Report.Quiet, "quiet", "q", false, "print only warnings and how many cases were accepted")
	f.BoolVarP(&o.Report.Verbose, "verbose", "v", false, "print the name of every accepted case")
}

// onlyGivenMark annotates a flag that takes values only from the command line.
const onlyGivenMark = "only-given"

// onlyGiven marks flags of commands on past runs. The configuration must not set them: the run
// had its own settings, and today's values must not replace those.
func onlyGiven(f *pflag.FlagSet, names ...string) {
	for _, name := range names {
		f.Lookup(name).Annotations = map[string][]string{onlyGivenMark: nil}
	}
}

// runFlag selects the past run of a command.
func runFlag(id *string) flagGroup {
	return func(f *pflag.FlagSet, _ *regress.Options) {
		f.StringVar(id, "run", "", "use the run whose ID begins with `ID` (default the last)")
	}
}

// settings are the flags of all commands that a configuration file may set.
func settings() *pflag.FlagSet {
	f := pflag.NewFlagSet("settings", pflag.ContinueOnError)
	for _, add := range []flagGroup{
		corpusFlags, commandFlags, toolFlags, selectFlags, orderFlags, limitFlags, storeFlags,
		comparisonFlags, recordFlags, checkFlags, runsFlag, reuseFlag, forkServerFlag, allCasesFlag, reportFlags, remoteFlags,
	} {
		add(f, &regress.Options{})
	}
	return f
}

// An action is what a command does with its complete options.
type action func(*cobra.Command, *regress.Options, []string) error

// command builds a command from groups of flags. It runs with complete options: flags,
// environment, configuration file. A command that takes case names defines their completion.
func (p *program) command(c *cobra.Command, groups []flagGroup, do action, list ...names) *cobra.Command {
	o, broken := p.options()
	colourFlag(c.Flags(), o)
	for _, add := range groups {
		add(c.Flags(), o)
	}
	var from configSource
	from.flags(c.Flags())
	c.DisableFlagsInUseLine = true
	completeFlags(c, o, &from)
	for _, l := range list {
		c.ValidArgsFunction = func(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			return l.complete(c, o, newHost(p), &from, args)
		}
	}
	c.RunE = func(c *cobra.Command, args []string) error {
		if broken != nil {
			return broken
		}
		if err := from.apply(c.Flags(), o); err != nil {
			return err
		}
		p.isOnGitHub = p.isOnGitHub || o.Report.GitHub == regress.GitHubOn
		p.annotates = p.isOnGitHub && o.Report.GitHub != regress.GitHubOff && c.Flags().Lookup("github") != nil
		p.printsJSON = o.Report.Format == regress.JSON
		return do(c, o, args)
	}
	return c
}
