package turns

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"muster/regress/internal/closure"
	"muster/regress/internal/exec"
	"muster/regress/internal/filedigest"
	"muster/regress/internal/glob"
	"muster/regress/internal/golden"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
)

// A Rival is the command with which the candidate's cost is compared.
type Rival struct {
	Command   *exec.Command // nil if no command can run
	Why       string        // no command can run
	Elsewhere bool          // an engine's workers made some of the recorded costs: those are no measure here
	same      bool          // it is the candidate itself, so there is nothing to compare
	moved     string        // its line, if an accept gave the golden another command since
	compared  bool          // it is the reference of a compare, so its first runs are not for the figures alone

	tool   *closure.Closure // of its executable
	others []string         // globs of cases with other commands, whose digests are not known
	made   time.Time        // the files that it reads must be older; zero if their age does not matter
}

// A Candidate is the command whose cost is measured.
type Candidate struct {
	Command  *exec.Command // nil if cases have different commands
	Tool     *closure.Closure
	OtherEnv string // the flag that gives it another environment than the golden's command had; "" = it has the same
}

// ReferenceRival returns the reference of a compare as a rival.
func ReferenceRival(c *exec.Command) Rival { return Rival{Command: c, compared: true} }

// Runs reports whether the rival can run a case as it did for the record.
func (r *Rival) Runs(caseName string) bool {
	return r.Command != nil && !slices.ContainsFunc(r.others, func(g string) bool {
		ok, err := glob.Match(g, caseName)
		return err == nil && ok
	})
}

// isMeasured reports whether there is something to compare: with runs of the rival, or with recorded costs.
func (r *Rival) isMeasured() bool { return !r.same && (r.Command != nil || !r.Elsewhere) }

// RecordedRival finds the command that recorded the golden, if its executable has not changed.
func RecordedRival(m golden.Meta, now Candidate) Rival {
	by := m.Recorder()
	i := slices.IndexFunc(by.Command, func(c golden.Command) bool { return c.Glob == "" })
	switch {
	case i < 0 || by.Executable == "":
		return Rival{Why: "the golden does not name the executable that recorded it"}
	case by.ExecutableDigest == outcome.Digest{}:
		return Rival{Why: "an executable of an engine's workers recorded the golden"}
	}
	words, shell := by.Command[i].Args, by.Shell
	if c := now.Command; c != nil && now.Tool.Digest(c.Path) == by.ExecutableDigest && slices.Equal(c.Words, words) && c.Shell == shell {
		if shell || len(filesIn(words)) > 0 {
			return Rival{Why: "the command is the recorded one, but files that it uses may have changed"}
		}
		return Rival{same: true, Why: "the command is the one that was recorded, so there is nothing to compare"}
	}
	if shell {
		return Rival{Why: "the golden was recorded with --shell, so the executable that recorded it is unknown"}
	}
	c, err := exec.ResolveAt(by.Executable, words, by.Stdin)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return Rival{Why: "the executable " + by.Executable + " that recorded the golden is gone"}
	case err != nil:
		return Rival{Why: "the executable " + by.Executable + " that recorded the golden can no longer run"}
	}
	if now.Command != nil {
		c.As = now.Command.As
	}
	is := closure.Restore(context.Background(), []closure.File{{Path: c.Path, Role: closure.Executable}}, nil, nil, filedigest.Open(""))
	if is.Digest(c.Path) != by.ExecutableDigest {
		return Rival{Why: "the executable " + by.Executable + " has changed since it recorded the golden"}
	}
	r := Rival{Command: c, tool: is}
	if !golden.SameCommands(by.Command, m.Command) {
		r.moved = name.QuoteAll(words)
	}
	for _, other := range by.Command {
		if other.Glob != "" {
			r.others = append(r.others, other.Glob)
		}
	}
	return r
}

// CostRival returns the RecordedRival if its costs can be measured. A script that was written to
// since the record may take another time, though its interpreter has the same digest. All commands
// of a run have one environment, so another one than at the record would change the rival, too.
func CostRival(m golden.Meta, now Candidate) Rival {
	r := RecordedRival(m, now)
	if now.OtherEnv != "" {
		r = Rival{Why: now.OtherEnv + " is not the recorded one, and the recorded command would run with it too"}
	}
	if r.Elsewhere = m.OnEngine(); r.Elsewhere && r.Command == nil && !r.same {
		r.Why = "the golden has costs of an engine, whose workers cannot be compared with this machine"
	}
	if r.Command == nil {
		return r
	}
	r.made = m.Recorder().Created
	if why := r.explainRewritten(); why != "" {
		return Rival{Why: why, Elsewhere: r.Elsewhere}
	}
	return r
}

// explainRewritten names a file that the rival reads and that is newer than the rival's
// recorded run. It returns "" if there is none.
func (r *Rival) explainRewritten() string {
	for _, file := range filesIn(r.Command.Words) {
		if info, err := os.Stat(file); err != nil || info.ModTime().After(r.made) {
			return file + ", which the golden's command names, was written to since the record"
		}
	}
	return ""
}

// explainChange says what changed if the rival is no longer what it was. Its runs are of no use
// then.
func (r *Rival) explainChange() string {
	if r.Command == nil || r.made.IsZero() {
		return ""
	}
	if r.tool.Changed() != nil {
		return "the golden's executable " + r.Command.Path + " changed while the check ran"
	}
	return r.explainRewritten()
}

// filesIn returns the arguments that are files for every case: absolute ones, as each case has
// another folder. Such a file is a script, say, that an interpreter runs: no digest is known of it.
func filesIn(words []string) (files []string) {
	for _, word := range words[1:] {
		if !filepath.IsAbs(word) {
			continue
		}
		if info, err := os.Stat(word); err == nil && info.Mode().IsRegular() {
			files = append(files, word)
		}
	}
	return files
}
