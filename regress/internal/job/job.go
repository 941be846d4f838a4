// Package job turns the options of a command into a Job. Options may be missing or contradict each
// other. Resolve fills missing ones from the golden, or from the past run that is repeated. It returns
// an error for combinations without meaning. A Job is complete, and does not change afterwards.
//
// The package also defines which settings a golden keeps, and how options are written on a command
// line and in run.json. It must not open a file, start anything, or report.
package job

import (
	"slices"
	"strings"

	"muster/regress"
	"muster/regress/internal/content"
	"muster/regress/internal/exec"
	"muster/regress/internal/fault"
	"muster/regress/internal/golden"
	"muster/regress/internal/name"
	"muster/regress/internal/normalize"
	"muster/regress/internal/plan"
)

// A Job is a command with complete options. Nobody changes a Job: a variant is a copy.
type Job struct {
	regress.Options
	Name    string // of the command, such as "check"
	Rules   normalize.Rules
	Ignored content.IgnoreList
	Chooser *plan.Chooser // chooses cases by Options.Select
}

// Resolve returns the job of a command. It takes options that are not given from recorded, the
// account that a golden gives of its record, unless that is nil. An error is of class Input.
func Resolve(o regress.Options, recorded *golden.Meta, command string) (j Job, err error) {
	if recorded != nil {
		TakeRecorded(&o, *recorded)
		takeSelection(&o.Select, *recorded)
	}
	trim(&o)
	if err := check(&o, command); err != nil {
		return j, err
	}
	CompleteLimits(&o.Limits)
	j = Job{Options: o, Name: command}
	if j.Rules, err = normalize.Parse(o.Judge.Normalize); err != nil {
		return j, fault.Inputf("%w", err)
	}
	if j.Ignored, err = content.ParseIgnore(o.Judge.Ignore); err != nil {
		return j, err
	}
	if j.Chooser, err = PlanSelection(&o.Select).Compile(); err != nil {
		return j, fault.Inputf("%w", err)
	}
	return j, nil
}

// Only returns the job for some of its cases.
func (j Job) Only(names []string) Job {
	j.Select.Only = names
	return j
}

// ExitStatus returns the exit status of a run with this summary. broke is the class of the error
// that ended the run early.
func ExitStatus(o *regress.Options, s regress.Summary, broke regress.Class) int {
	if broke != regress.None {
		return broke.Status()
	}
	if s.Verdicts[regress.EnvironmentFailed] > 0 {
		return regress.StatusEnvironment
	}
	if s.Command == regress.RecordCommand {
		if s.Recorded == 0 { // every case fails
			return regress.StatusDiffers
		}
		return regress.StatusClean
	}
	if o.Judge.Strict && s.Masked.Cases > 0 {
		return regress.StatusDiffers // nothing is proved of what was not compared
	}
	if s.NotRun > 0 { // --fail-fast: nothing is proved of the rest
		return regress.StatusDiffers
	}
	for _, v := range regress.AllVerdicts() {
		if v != regress.Identical && s.Verdicts[v] > 0 && !slices.Contains(o.Judge.Allow, v.String()) {
			return regress.StatusDiffers
		}
	}
	if len(s.Over) > 0 {
		return regress.StatusDiffers
	}
	return regress.StatusClean
}

// ParseAllowed returns the verdicts that --allow names.
func ParseAllowed(o *regress.Options) []regress.Verdict {
	var list []regress.Verdict
	for _, v := range regress.AllVerdicts() {
		if slices.Contains(o.Judge.Allow, v.String()) {
			list = append(list, v)
		}
	}
	return list
}

// TakeRecorded fills in what was not given from the golden: a plain `muster check`
// does again what was recorded. How the command is started goes with the
// command: another one may not want a shell.
func TakeRecorded(o *regress.Options, m golden.Meta) {
	if o.Corpus.Path == "" && m.CorpusPath != "-" {
		o.Corpus.Path = m.CorpusPath
	}
	otherCommand := len(o.Command.Words) > 0 || len(o.Command.ByGlob) > 0
	for _, setting := range OutcomeSettings() {
		if setting.Scope != OfCommand || !otherCommand || startsAsRecorded(&o.Command, setting.Name(), m) {
			setting.Complete(o, m.Flags[setting.Name()])
		}
	}
	if otherCommand {
		return
	}
	for _, c := range m.Command {
		if c.Glob == "" {
			o.Command.Words = slices.Clone(c.Args)
		} else {
			o.Command.ByGlob = append(o.Command.ByGlob, regress.GlobCommand{Glob: c.Glob, Words: slices.Clone(c.Args)})
		}
	}
}

// startsAsRecorded reports whether the recorded flag, --shell or --stdin, also holds for a
// given command. It does for the same tool with other arguments.
func startsAsRecorded(c *regress.Command, flag string, m golden.Meta) bool {
	recorded := mainCommand(m)
	if len(c.Words) == 0 || len(c.ByGlob) > 0 || len(recorded) == 0 {
		return false
	}
	inShell := m.Flags["--shell"] != ""
	switch {
	case slices.Equal(c.Words, recorded):
		return true
	case inShell && !sameScriptTool(c.Words, recorded):
		return false
	case flag == "--stdin":
		return !exec.HasToken(c.Words...) && (inShell || sameExecutable(c.Words[0], recorded[0], m.Executable))
	}
	return inShell
}

// mainCommand returns the recorded command that no glob restricts.
func mainCommand(m golden.Meta) []string {
	for _, c := range m.Command {
		if c.Glob == "" {
			return c.Args
		}
	}
	return nil
}

// sameScriptTool reports whether two commands, as scripts of a shell, begin with the same
// word. A given command that was split into words which need quotes is not a script, unless
// the recorded one was split, too: joining its words would lose the quotes.
func sameScriptTool(given, recorded []string) bool {
	if len(given) > 1 && len(recorded) == 1 && slices.ContainsFunc(given, needsQuotes) {
		return false
	}
	return firstWord(given) == firstWord(recorded)
}

func firstWord(script []string) string {
	words := strings.Fields(strings.Join(script, " "))
	if len(words) == 0 {
		return ""
	}
	return words[0]
}

// needsQuotes reports whether a shell would change a word. Tokens are quoted when they
// are replaced.
func needsQuotes(word string) bool {
	plain := exec.Fill(word, "x")
	return name.Quote(plain) != plain
}

// sameExecutable reports whether a word runs the recorded executable: the word is its
// recorded name, or resolves to its path.
func sameExecutable(word, recorded, path string) bool {
	if word == recorded {
		return true
	}
	found, err := exec.Locate(word)
	return err == nil && found == path
}
