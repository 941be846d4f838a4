package bundle

import (
	"slices"
	"strings"

	"muster/regress/internal/exec"
)

// move maps a path on this machine to its path on a worker.
type move struct{ from, to string }

// CaseArgs returns the arguments with which a command runs on a worker for the case with that
// name, from the work folder. The command is that of Options, or one with other words for the
// same executable. Paths are replaced before the name is inserted, because a case may have the
// name of an input.
func (b *Bundle) CaseArgs(c *exec.Command, caseName string) []string {
	there := *c
	if there.Words = b.movedAll(c.Words); !c.Shell {
		there.Words[0] = c.Words[0]
	}
	args := there.Args(caseName)
	args = append(b.zeroth(args[0]), args[1:]...)
	if c.Stdin {
		// The API has no standard input, so a shell opens it: the bundled shell, or the
		// worker's.
		shell := b.shell
		if shell == nil {
			shell = []string{exec.Shell}
		}
		args = slices.Concat(shell, []string{"-c", `exec "$@" <"$0"`, caseName}, args)
	}
	return args
}

// Args returns the arguments with which words run on a worker, from the work folder. If they
// begin with the command's name, they start its executable.
func (b *Bundle) Args(words []string) []string {
	if slices.Contains(b.calls, words[0]) {
		return append(b.zeroth(words[0]), b.movedAll(words[1:])...)
	}
	return b.movedAll(words)
}

// zeroth returns the zeroth argument of the command on a worker.
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

// moved replaces the paths of inputs in an argument: at its start, after an option's single
// letter (-I), after '=', ':' and ',', and at the start of a word in a shell's script.
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
