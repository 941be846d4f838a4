package bundle

import (
	"slices"
	"strings"

	"muster/regress/internal/exec"
)

// move is a path of this machine that is elsewhere on a worker.
type move struct{ from, to string }

// CaseArgs returns what a command does on a worker for the case of that name, from the work
// folder: that of Options, or one that has other words for the same executable. Paths are
// moved before the name is put in: a case may be called as an input is.
func (b *Bundle) CaseArgs(c *exec.Command, caseName string) []string {
	there := *c
	if there.Words = b.movedAll(c.Words); !c.Shell {
		there.Words[0] = c.Words[0]
	}
	args := there.Args(caseName)
	args = append(b.zeroth(args[0]), args[1:]...)
	if c.Stdin {
		// The API has no standard input, so a shell opens it: the bundled one, or the worker's.
		shell := b.shell
		if shell == nil {
			shell = []string{exec.Shell}
		}
		args = slices.Concat(shell, []string{"-c", `exec "$@" <"$0"`, caseName}, args)
	}
	return args
}

// Args returns what words do on a worker, from the work folder: if they begin with how the
// command is called, its executable starts them.
func (b *Bundle) Args(words []string) []string {
	if slices.Contains(b.calls, words[0]) {
		return append(b.zeroth(words[0]), b.movedAll(words[1:])...)
	}
	return b.movedAll(words)
}

// zeroth is what stands on a worker for the zeroth argument of the command.
func (b *Bundle) zeroth(arg string) []string {
	switch {
	case b.follows != "":
		return append(slices.Clone(b.start), arg, b.follows)
	case b.start != nil:
		return slices.Clone(b.start)
	}
	return []string{b.moved(arg)}
}

func (b *Bundle) movedAll(args []string) []string {
	moved := make([]string, len(args))
	for i, arg := range args {
		moved[i] = b.moved(arg)
	}
	return moved
}

// moved replaces the paths of inputs in an argument: at its start, after an option's one
// letter (-I), after '=', ':' and ',', and where a word begins in a shell's script.
func (b *Bundle) moved(arg string) string {
	for _, m := range b.moves {
		for at := 0; ; {
			i := strings.Index(arg[at:], m.from)
			if i < 0 {
				break
			}
			at += i
			if end := at + len(m.from); begins(arg, at) && ends(arg, end) {
				arg = arg[:at] + m.to + arg[end:]
				at += len(m.to)
			} else {
				at++
			}
		}
	}
	return arg
}

func begins(arg string, at int) bool {
	return at == 0 || strings.IndexByte("=:, \t\n'\"(;<>|&`", arg[at-1]) >= 0 || at == 2 && arg[0] == '-' && arg[1] != '-'
}

func ends(arg string, at int) bool {
	return at == len(arg) || strings.IndexByte("/:, \t\n'\");<>|&`", arg[at]) >= 0
}
