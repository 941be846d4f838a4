package decide

import (
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"muster/internal/readable"
	"muster/regress"
	"muster/regress/internal/golden"
	"muster/regress/internal/job"
	"muster/regress/internal/outcome"
	"muster/regress/internal/pastrun"
	"muster/regress/internal/place"
	"muster/regress/internal/state"
)

// commandMove describes the changes of an accept to the golden, apart from outcomes.
type commandMove struct {
	moved   string // what the golden has now; "" = nothing moved
	stays   string // why a golden with outcomes of another command keeps its own, and which check passes
	ignored newlyIgnored
}

// texts returns warnings for the reviewer, in sentences.
func (c commandMove) texts() (list []string) {
	if text := c.ignored.text(); text != "" {
		list = append(list, text)
	}
	switch {
	case c.moved != "":
		return append(list, "the golden now has "+c.moved)
	case c.stays != "":
		return append(list, c.stays)
	}
	return list
}

// warnOverruled returns a warning if today's settings name another command than the one that the
// golden took over from a run. A plain check would run the former. Otherwise it returns "".
func warnOverruled(today, ran *regress.Options, c commandMove) string {
	set := job.Commands(&today.Command)
	if c.moved == "" || len(set) == 0 || golden.SameCommands(set, job.Commands(&ran.Command)) {
		return ""
	}
	return "the settings file or MUSTER_COMMAND names another command, which a plain check runs: change it there"
}

// moveCommand writes the command, the settings and the tool of the run into the golden's meta.
// It does so only if a check of that command would be identical: the run judged all cases of
// the golden, and all its differences are accepted. names are those of the golden's cases.
//
// made is the meta of the outcomes that the run kept. The last accept in m is that of the run.
func moveCommand(p *pastrun.Past, m *golden.Meta, made golden.Meta, names iter.Seq[string], keep bool) (move commandMove, err error) {
	isOther := !job.SameStart(m.Command, made.Command, m.Flags, made.Flags)
	if !isOther && golden.SameTool(m.Tool, made.Tool) {
		return move, nil
	}
	why := "as --keep-command says"
	if !keep {
		if why, err = explainStay(p, *m, made, names); err != nil {
			return move, err
		}
	}
	if why != "" {
		if isOther {
			move.stays = "the golden keeps its command, " + why + "; to run the accepted one: " + job.GreenLine(*m, m.Accepts[len(m.Accepts)-1], &p.Options)
		}
		return move, nil
	}
	move.moved = describeMove(p, *m, made)
	reference := m.Recorder()
	reference.Moved = m.Accepts[len(m.Accepts)-1].At
	m.Reference = &reference
	m.Command, m.Executable, m.ExecutableDigest = made.Command, made.Executable, made.ExecutableDigest
	m.Tool, m.Env, m.Flags = made.Tool, made.Env, maps.Clone(made.Flags)
	return move, nil
}

// describeMove describes what the golden takes over, with each setting that it did not have before.
func describeMove(p *pastrun.Past, m, made golden.Meta) string {
	var settings []string
	for _, s := range job.OutcomeSettings() {
		if was, is := m.Flags[s.Name()], made.Flags[s.Name()]; s.Scope != job.OfIdentity && was != is {
			settings = append(settings, s.Worded(is)+" instead of "+s.Worded(was))
		}
	}
	with := strings.Join(settings, ", ")
	switch {
	case !golden.SameCommands(m.Command, made.Command):
		text := "the command of run " + p.Run.ID + ": " + job.CommandLine(&p.Options.Command)
		if with != "" {
			text += "; " + with
		}
		return text
	case with != "":
		return "the settings of run " + p.Run.ID + ": " + with
	}
	return "the tool of run " + p.Run.ID
}

// explainStay returns why the golden keeps its command, "" if it does not.
func explainStay(p *pastrun.Past, m, made golden.Meta, names iter.Seq[string]) (why string, err error) {
	sum, err := pastrun.SummaryOf(p)
	if err != nil {
		return "", err
	}
	left, failed := countLeft(p.Run)
	s := &p.Options.Select
	switch {
	case left > 0:
		return "as " + readable.CasesDo(left, "wait") + " to be accepted", nil
	case failed > 0:
		return "as the machine failed " + readable.Cases(failed), nil
	case sum.NotRun > 0:
		return "as " + readable.Cases(sum.NotRun) + " did not run", nil
	case len(s.Globs)+len(s.Filters)+len(s.Only) > 0 || s.Partition != "" || s.Sample > 0:
		return "as the run had a selection", nil
	case job.IsOtherCorpus(m, &p.Options):
		return "as the run had another corpus", nil
	case m.OnEngine() || made.OnEngine():
		return "as an engine made outcomes", nil
	}
	if path := temporaryFile(made.Tool, p.Options.Store.Golden); path != "" {
		return "as " + path + " is in the folder for temporary files", nil
	}
	unjudged, err := countUnjudged(p.Run, names)
	if err == nil && unjudged > 0 {
		why = "as the run did not judge " + readable.Cases(unjudged) + " of the golden"
	}
	return why, err
}

// countLeft counts the results that are not accepted, and those that cannot be, because the
// machine failed.
func countLeft(run *pastrun.Run) (left, failed int) {
	for _, r := range run.Results {
		switch {
		case r.Verdict == regress.EnvironmentFailed:
			failed++
		case !r.Accepted:
			left++
		}
	}
	return left, failed
}

// countUnjudged counts the names of cases for which the run has neither a line nor a result. The
// parts of a merged run may leave out cases.
func countUnjudged(run *pastrun.Run, names iter.Seq[string]) (count int, err error) {
	judged, err := state.NotIdentical(run.State)
	if err != nil {
		return 0, err
	}
	for line, err := range run.State.ReadLines() {
		if err != nil {
			return 0, err
		}
		judged[string(line.Name)] = true
	}
	for caseName := range names {
		if !judged[caseName] {
			count++
		}
	}
	return count, nil
}

// temporaryFile returns a file of the tool in the folder for temporary files, "" if no file is there.
// It returns "" for a golden in that folder, too. Files that the tool only opens, absent paths and listed folders do not count.
func temporaryFile(tool []golden.ToolFile, goldenPath string) string {
	folder := filepath.Clean(os.TempDir()) + string(filepath.Separator)
	isInside := func(path string) bool {
		absolute, err := filepath.Abs(path)
		return err == nil && strings.HasPrefix(absolute, folder)
	}
	if !place.IsAddress(goldenPath) && isInside(goldenPath) {
		return ""
	}
	i := slices.IndexFunc(tool, func(f golden.ToolFile) bool {
		return !slices.Contains([]string{golden.OpenedRole, golden.AbsentRole, golden.ListedRole, golden.FolderRole}, f.Role) && isInside(f.Path)
	})
	if i < 0 {
		return ""
	}
	return tool[i].Path
}

// newlyIgnored counts parts that a golden had, and that its new outcomes ignore. An accept drops
// their contents, and no later check compares them.
type newlyIgnored struct{ parts, cases int }

func (n *newlyIgnored) add(old, now *outcome.Outcome) {
	parts := 0
	for _, k := range now.IgnoredParts() {
		if p, known := old.Part(k); known && p.Form != outcome.Ignored {
			parts++
		}
	}
	if parts > 0 {
		n.parts, n.cases = n.parts+parts, n.cases+1
	}
}

// text returns "" for no parts.
func (n newlyIgnored) text() string {
	if n.parts == 0 {
		return ""
	}
	return readable.Count(n.parts, "part") + " in " + readable.Count(n.cases, "case") +
		" not compared from now on: --ignore names them, and the golden keeps no content of them"
}

func previewIgnored(recorded, found *golden.Store, promoted []*state.Result) (n newlyIgnored, err error) {
	for _, r := range promoted {
		old, known, err := recorded.Get(string(r.Name))
		if err != nil {
			return n, err
		}
		now, kept, err := found.Get(string(r.Name))
		if err != nil {
			return n, err
		}
		if known && kept {
			n.add(&old.Outcome, &now.Outcome)
		}
	}
	return n, nil
}
