package regress

import (
	"context"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"muster/regress/internal/golden"
	"muster/regress/internal/mirror"
	"muster/regress/internal/outcome"
	"muster/regress/internal/place"
	"muster/regress/internal/readable"
	"muster/regress/internal/state"
)

// commandMove says what an accept does to the golden besides its outcomes.
type commandMove struct {
	moved   string // what the golden has now; "" = nothing moved
	stays   string // why a golden with outcomes of another command keeps its own, and what is green
	ignored newlyIgnored
}

// texts returns what the reviewer must know, in sentences.
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

// overruled returns a warning if the settings of today name another command than the one that
// the golden took over from a run: a plain check would run theirs. It returns "" if they do not.
func overruled(today, ran *Options, c commandMove) string {
	set := commandsIn(&today.Command)
	if c.moved == "" || len(set) == 0 || slices.EqualFunc(wordsOf(set), wordsOf(commandsIn(&ran.Command)), slices.Equal) {
		return ""
	}
	return "the settings file or MUSTER_COMMAND names another command, which a plain check runs: change it there"
}

// previewMove returns what an accept would do to the command. It marks the results as accepted.
func (p *past) previewMove(ctx context.Context, base place.Place, promoted []*state.Result, a Acceptance) (move commandMove, err error) {
	found, err := p.run.OpenOutcomesIfAny()
	if err != nil || found == nil || len(promoted) == 0 {
		return move, err
	}
	defer found.Close()
	recorded, err := base.Open(ctx)
	if err != nil {
		return move, err
	}
	defer recorded.Close()
	for _, r := range promoted {
		r.Accepted = true
	}
	ignored, err := previewIgnored(recorded, found, promoted)
	if err != nil {
		return move, err
	}
	m := recorded.Meta()
	m.Accepts = append(slices.Clip(m.Accepts), p.signature(a.Reason))
	move, err = p.moveCommand(&m, found.Meta(), recorded.Names(), a.KeepCommand)
	move.ignored = ignored
	return move, err
}

// moveCommand writes the command, the settings and the tool of the run into the golden's meta.
// It does so only if a check of that command would be identical: the run judged all cases of
// the golden, which are named, and all its differences are accepted.
//
// The meta made is that of the outcomes that the run kept. The last accept in m is the one of
// the run.
func (p *past) moveCommand(m *golden.Meta, made golden.Meta, names iter.Seq[string], keep bool) (move commandMove, err error) {
	isOther := !sameStart(m.Command, made.Command, m.Flags, made.Flags)
	if !isOther && slices.Equal(m.Tool, made.Tool) {
		return move, nil
	}
	why := "as --keep-command says"
	if !keep {
		if why, err = p.commandStays(*m, made, names); err != nil {
			return move, err
		}
	}
	if why != "" {
		if isOther {
			move.stays = "the golden keeps its command, " + why + "; to run the accepted one: " + greenLine(*m, m.Accepts[len(m.Accepts)-1], &p.options)
		}
		return move, nil
	}
	move.moved = p.movedText(*m, made)
	reference := m.Recorder()
	reference.Moved = m.Accepts[len(m.Accepts)-1].At
	m.Reference = &reference
	m.Command, m.Executable, m.ExecutableDigest = made.Command, made.Executable, made.ExecutableDigest
	m.Tool, m.Env, m.Flags = made.Tool, made.Env, maps.Clone(made.Flags)
	return move, nil
}

// movedText says what the golden takes over, with each setting that it did not have before.
func (p *past) movedText(m, made golden.Meta) string {
	var settings []string
	for _, s := range outcomeSettings() {
		if was, is := m.Flags[s.name()], made.Flags[s.name()]; s.scope != ofIdentity && was != is {
			settings = append(settings, s.worded(is)+" instead of "+s.worded(was))
		}
	}
	with := strings.Join(settings, ", ")
	switch {
	case !slices.EqualFunc(wordsOf(m.Command), wordsOf(made.Command), slices.Equal):
		text := "the command of run " + p.run.ID + ": " + commandLine(&p.options.Command)
		if with != "" {
			text += "; " + with
		}
		return text
	case with != "":
		return "the settings of run " + p.run.ID + ": " + with
	}
	return "the tool of run " + p.run.ID
}

// commandStays returns why the golden keeps its command, "" if it does not.
func (p *past) commandStays(m, made golden.Meta, names iter.Seq[string]) (why string, err error) {
	sum, err := summaryOf(p)
	if err != nil {
		return "", err
	}
	left, failed := p.leftOver()
	s := &p.options.Select
	switch {
	case left > 0:
		return "as " + readable.CasesDo(left, "wait") + " to be accepted", nil
	case failed > 0:
		return "as the machine failed " + readable.Cases(failed), nil
	case sum.NotRun > 0:
		return "as " + readable.Cases(sum.NotRun) + " did not run", nil
	case len(s.Globs)+len(s.Filters)+len(s.Only) > 0 || s.Partition != "" || s.Sample > 0:
		return "as the run had a selection", nil
	case isOtherCorpus(m, &p.options):
		return "as the run had another corpus", nil
	case m.OnEngine() || made.OnEngine():
		return "as an engine made outcomes", nil
	}
	if path := passing(made.Tool, p.options.Store.Golden); path != "" {
		return "as " + path + " is in the folder for temporary files", nil
	}
	unjudged, err := p.unjudged(names)
	if err == nil && unjudged > 0 {
		why = "as the run did not judge " + readable.Cases(unjudged) + " of the golden"
	}
	return why, err
}

// leftOver counts the results that are not accepted, and those that cannot be, because the
// machine failed.
func (p *past) leftOver() (left, failed int) {
	for _, r := range p.run.Results {
		switch {
		case r.Verdict == outcome.Environment:
			failed++
		case !r.Accepted:
			left++
		}
	}
	return left, failed
}

// unjudged counts the names of cases that the run has neither a line nor a result of. The parts
// of a merged run may leave out cases.
func (p *past) unjudged(names iter.Seq[string]) (count int, err error) {
	lines, err := p.run.State.ReadLines()
	if err != nil {
		return 0, err
	}
	judged := state.LinesByName(lines)
	for _, r := range p.run.Results {
		judged[string(r.Name)] = state.Line{}
	}
	for caseName := range names {
		if _, is := judged[caseName]; !is {
			count++
		}
	}
	return count, nil
}

// passing returns a file of the tool that lies in the folder for temporary files while the
// golden does not, "" if there is none.
func passing(tool []golden.ToolFile, goldenPath string) string {
	folder := filepath.Clean(os.TempDir()) + string(filepath.Separator)
	isInside := func(path string) bool {
		absolute, err := filepath.Abs(path)
		return err == nil && strings.HasPrefix(absolute, folder)
	}
	if !mirror.IsAddress(goldenPath) && isInside(goldenPath) {
		return ""
	}
	i := slices.IndexFunc(tool, func(f golden.ToolFile) bool { return isInside(f.Path) })
	if i < 0 {
		return ""
	}
	return tool[i].Path
}
