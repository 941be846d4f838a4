package regress

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"muster/regress/internal/crew"
	"muster/regress/internal/exec"
	"muster/regress/internal/filedigest"
	"muster/regress/internal/glob"
	"muster/regress/internal/golden"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
	"muster/regress/internal/tool"
)

// rival is what the candidate's cost is compared with.
type rival struct {
	command *exec.Command  // nil: there is none that could run
	tool    *tool.Identity // its executable
	others  []string       // globs of cases with other commands, whose digests are not known
	why     string         // there is none
	there   bool           // what was recorded is at least in part of an engine's workers, whose times are others
	same    bool           // it is the candidate itself, so there is nothing to compare
	moved   string         // its line, if an accept gave the golden another command since; "" = none did
	made    time.Time      // nothing that it reads may be newer; zero where that does not matter
}

// runs reports whether the rival can run a case as it did.
func (r *rival) runs(caseName string) bool {
	return r.command != nil && !slices.ContainsFunc(r.others, func(g string) bool {
		ok, err := glob.Match(g, caseName)
		return err == nil && ok
	})
}

// recordedRival finds the command that recorded the golden, if its executable still is what it was.
func recordedRival(m golden.Meta, now *crew.Commands, files *tool.Identity) rival {
	by := m.Recorder()
	i := slices.IndexFunc(by.Command, func(c golden.Command) bool { return c.Glob == "" })
	switch {
	case i < 0 || by.Executable == "":
		return rival{why: "the golden does not say which executable made it"}
	case by.ExecutableDigest == outcome.Digest{}:
		return rival{why: "the golden was made by an executable of an engine's workers"}
	}
	words, shell := by.Command[i].Args, by.Shell
	if now.Main != nil && len(now.ByGlob) == 0 && files.Digest(now.Main.Path) == by.ExecutableDigest && slices.Equal(now.Main.Words, words) && now.Main.Shell == shell {
		if shell || namesFiles(words) {
			return rival{why: "the command is as recorded, and what it runs may not be"}
		}
		return rival{same: true, why: "the command is the one that was recorded, so there is nothing to compare"}
	}
	if shell {
		return rival{why: "the golden was recorded with --shell, so what made it is not known"}
	}
	c, err := exec.ResolveAt(by.Executable, words, by.Stdin)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return rival{why: executableText(m) + " is gone"}
	case err != nil:
		return rival{why: executableText(m) + " cannot be run any more"}
	}
	is, err := tool.Build(tool.Options{Commands: []*exec.Command{c}, Alone: true, Digests: filedigest.Open("")})
	if err != nil || is.Digest(c.Path) != by.ExecutableDigest {
		return rival{why: "the executable " + by.Executable + " has changed since it recorded the golden"}
	}
	r := rival{command: c, tool: is}
	if !slices.EqualFunc(wordsOf(by.Command), wordsOf(m.Command), slices.Equal) {
		r.moved = name.QuoteAll(words)
	}
	for _, other := range by.Command {
		if other.Glob != "" {
			r.others = append(r.others, other.Glob)
		}
	}
	return r
}

// executableText names the executable whose cost is compared. After an accept that moved the
// command it is not the golden's.
func executableText(m golden.Meta) string {
	if m.Reference != nil {
		return "the executable " + m.Reference.Executable + " that recorded the golden"
	}
	return "the golden's executable " + m.Executable
}

// costRival is recordedRival where it matters what took the time: a script that was written
// to since is not the one that made the golden, whatever the digest of its interpreter.
func costRival(m golden.Meta, now *crew.Commands, files *tool.Identity) rival {
	r := recordedRival(m, now, files)
	if r.there = m.OnEngine(); r.there && r.command == nil && !r.same {
		r.why = "the golden has what cases took on an engine, whose workers are no measure for this machine"
	}
	if r.command == nil {
		return r
	}
	r.made = m.Recorder().Created
	if why := r.rewritten(); why != "" {
		return rival{why: why, there: r.there}
	}
	return r
}

// rewritten names a file that the rival reads and that is newer than what it made.
func (r *rival) rewritten() string {
	for _, file := range filesIn(r.command.Words) {
		if info, err := os.Stat(file); err != nil || info.ModTime().After(r.made) {
			return file + ", which the golden's command names, was written to since"
		}
	}
	return ""
}

// spoilt says why runs of the rival are of no use, when it is no longer what it was.
func (r *rival) spoilt() string {
	if r.command == nil || r.made.IsZero() {
		return ""
	}
	if r.tool.Changed() != nil {
		return "the golden's executable " + r.command.Path + " changed while it ran beside"
	}
	return r.rewritten()
}

// namesFiles reports whether an argument is a file: a script, say, that an interpreter
// runs and that no digest is of.
func namesFiles(words []string) bool { return len(filesIn(words)) > 0 }

// filesIn returns the arguments that are files for every case: absolute ones, for cases
// have another folder.
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
