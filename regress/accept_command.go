package regress

import (
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"muster/regress/internal/golden"
	"muster/regress/internal/outcome"
	"muster/regress/internal/readable"
)

// commandMove says what an accept does to the command of the golden.
type commandMove struct {
	moved string // what is recorded now, in a sentence; "" = nothing moved
	stays string // why a golden with outcomes of another command keeps its own, and what is green
}

// texts returns both as a list of at most one.
func (c commandMove) texts() []string {
	if text := cmp.Or(c.moved, c.stays); text != "" {
		return []string{text}
	}
	return nil
}

// moveCommand writes the command, the settings and the tool of the run into the golden's meta.
// It does so only if a check of that command would be identical: the run judged all cases of
// the golden, and all its differences are accepted.
//
// The meta made is that of the outcomes that the run kept. The last accept in m is the one of
// the run.
func (p *past) moveCommand(m *golden.Meta, made golden.Meta, keep bool) (move commandMove, err error) {
	isOther := !sameStart(m.Command, made.Command, m.Flags, made.Flags)
	if !isOther && slices.Equal(m.Tool, made.Tool) {
		return move, nil
	}
	why, err := p.commandStays(*m, made, keep)
	if err != nil {
		return move, err
	}
	if why != "" {
		if isOther {
			move.stays = "the golden keeps its command, " + why + ": " + greenLine(*m, m.Accepts[len(m.Accepts)-1], p.options.Store.Golden) + " compares with what was accepted"
		}
		return move, nil
	}
	reference := m.Recorder()
	m.Reference = &reference
	m.Command, m.Executable, m.ExecutableDigest = made.Command, made.Executable, made.ExecutableDigest
	m.Tool, m.Env, m.Flags = made.Tool, made.Env, maps.Clone(made.Flags)
	move.moved = "the golden's tool is now the one of run " + p.run.ID
	if isOther {
		move.moved = "the golden's command is now the one of run " + p.run.ID + ": " + p.options.Command.line()
	}
	return move, nil
}

// sameStart reports whether two commands with their settings are equal. What only identifies
// the tool does not count.
func sameStart(was, is []golden.Command, wasFlags, isFlags map[string]string) bool {
	for _, s := range outcomeSettings() {
		if s.scope != ofIdentity && wasFlags[s.name()] != isFlags[s.name()] {
			return false
		}
	}
	return slices.EqualFunc(wordsOf(was), wordsOf(is), slices.Equal)
}

// commandStays returns why the golden keeps its command, "" if it does not.
func (p *past) commandStays(m, made golden.Meta, keep bool) (why string, err error) {
	sum, err := p.summary()
	if err != nil {
		return "", err
	}
	s, left := &p.options.Select, 0
	for _, r := range p.results {
		if !r.Accepted {
			left++
		}
	}
	switch {
	case keep:
		return "as --keep-command says", nil
	case left > 0:
		return "as " + countedDo(left, "wait") + " to be accepted", nil
	case sum.NotRun > 0:
		return "as " + counted(sum.NotRun) + " did not run", nil
	case len(s.Globs)+len(s.Filters)+len(s.Only) > 0 || s.Partition != "" || s.Sample > 0:
		return "as the run had a selection", nil
	case m.OnEngine() || made.OnEngine():
		return "as an engine made outcomes", nil
	}
	if path := passing(made.Tool, p.options.Store.Golden); path != "" {
		return "as " + path + " is in the folder for temporary files", nil
	}
	return "", nil
}

// passing returns a file of the tool that lies in the folder for temporary files while the
// golden does not, "" if there is none.
func passing(tool []golden.ToolFile, goldenPath string) string {
	folder := filepath.Clean(os.TempDir()) + string(filepath.Separator)
	isInside := func(path string) bool {
		absolute, err := filepath.Abs(path)
		return err == nil && strings.HasPrefix(absolute, folder)
	}
	if isInside(goldenPath) {
		return ""
	}
	i := slices.IndexFunc(tool, func(f golden.ToolFile) bool { return isInside(f.Path) })
	if i < 0 {
		return ""
	}
	return tool[i].Path
}

// greenLine returns the shell line of a check that runs what an accept took its outcomes from.
func greenLine(m golden.Meta, by golden.Accept, goldenPath string) string {
	var o Options
	for _, c := range by.Command {
		if c.Glob != "" {
			return "muster check with the [[commands]] of run " + by.Run
		}
		o.Command.Words = c.Args
	}
	plain := Options{Command: Command{Words: o.Command.Words}}
	plain.asRecorded(m)
	args := []string{"muster", "check"}
	if goldenPath != GoldenDefault {
		args = append(args, "--golden", goldenPath)
	}
	for _, s := range outcomeSettings() {
		if s.complete(&o, by.Flags[s.name()]); s.text(&o) != s.text(&plain) {
			args = append(args, s.args(&o)...)
		}
	}
	if !slices.EqualFunc(wordsOf(m.Command), wordsOf(by.Command), slices.Equal) {
		args = append(append(args, "--"), o.Command.Words...)
	}
	return shellQuoteAll(args)
}

// noteAccepted says how many of the cases that differ were accepted from another command than
// the one that ran, and which check would run it.
func (c *checking) noteAccepted() error {
	lines := map[string]int{}
	elsewhere := c.acceptedElsewhere()
	if len(elsewhere) == 0 {
		return nil
	}
	for _, p := range c.results {
		if p.result.Verdict == outcome.Environment || !c.base.has(string(p.result.Name)) {
			continue
		}
		rec, _, err := c.base.get(string(p.result.Name))
		if err != nil {
			return err
		}
		if line, is := elsewhere[rec.Origin]; is {
			lines[line]++
		}
	}
	for _, line := range slices.SortedFunc(maps.Keys(lines), func(a, b string) int {
		return cmp.Or(cmp.Compare(lines[b], lines[a]), cmp.Compare(a, b))
	}) {
		c.warn(readable.Number(lines[line]) + " of the cases that differ were accepted from another command: " + line)
	}
	return nil
}

// acceptedElsewhere returns the check that would be green for each accept of another command,
// by the number that records have as their origin.
func (c *checking) acceptedElsewhere() map[int]string {
	lines := map[int]string{}
	for i, a := range c.recorded.Accepts {
		flags := c.o.outcomeFlags()
		if len(a.Flags) == 0 {
			flags = nil // a golden of an older muster does not tell
		}
		if !sameStart(a.Command, commandsIn(&c.o.Command), a.Flags, flags) {
			lines[i+1] = greenLine(c.recorded, a, c.o.Store.Golden)
		}
	}
	return lines
}
