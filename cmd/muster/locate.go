package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"muster/regress"
	"muster/regress/bisect"
	"muster/regress/reduce"
)

func (p *program) reduce() *cobra.Command {
	var how reduce.Options
	var reference string
	c := p.command(&cobra.Command{
		Use:   "reduce NAME|G1 [flags]",
		Short: "Shrink a source to the smallest one that still shows the cause",
		Long: `Reduce starts with the smallest source that shows a cause, or with the case of that name
and all its causes. It removes what the cause does not need: declarations, lines, bracketed
groups and tokens. Each attempt runs the reference and the candidate as the check did. The
result shows the same cause, ends in the same way, and shows no new cause.

The result is written to .muster/reduced/RUN/NAME and stays there as long as the run. It
is printed with the difference and the line that runs it again.

The reference is the command that recorded the golden, if its executable has not changed,
or the reference of compare. An interrupt keeps the smallest source so far.`,
		Example: `  muster reduce G1
  muster reduce a/b.go --ref './gofmt-old {in}'
  muster reduce G3 --run 20250131 --time-max 1m`,
		Args: oneArg("a cause or the name of a case"),
	}, []flagGroup{stateFlag, jobsFlag, quietFlag, remoteFlags, runFlag(&how.Run)}, func(c *cobra.Command, o *regress.Options, args []string) (err error) {
		how.Target = args[0]
		if reference != "" {
			if how.Reference, err = splitCommand("--ref", reference); err != nil {
				return err
			}
		}
		line := newStatusLine(p.stderr, o.Report.Quiet)
		defer line.end()
		how.Status = line.showOrEnd
		return reduce.Run(c.Context(), *o, newHost(p), how)
	}, causesAndCases)
	c.Flags().StringVar(&reference, "ref", "", "run `COMMAND` as the trusted one (default the one that the run compared with)")
	c.Flags().DurationVar(&how.TimeMax, "time-max", reduce.TimeDefault, "keep the smallest so far after `TIME`; 0 = no limit")
	c.Flags().IntVar(&how.TestsMax, "tests-max", 0, "make `N` attempts at most; 0 = no limit (default 0)")
	return c
}

func (p *program) bisect() *cobra.Command {
	var how bisect.Options
	var file string
	c := p.command(&cobra.Command{
		Use:   "bisect [G1|NAME] --versions FILE [flags]",
		Short: "Find the version of the command that introduced each cause",
		Long: `Bisect runs each version in FILE once on the smallest source of each cause. For each
cause it prints the version that introduced it, and versions that removed it and brought
it back. Name a cause to search for that cause alone, or a case for all causes of the case.

FILE has one version a line, the oldest first, as NAME: COMMAND. Lines that begin with
# are comments. An interrupt prints what is known so far: the last and the first version
run before the others.`,
		Example: `  muster bisect --versions versions.txt
  muster bisect G2 --versions versions.txt --format json`,
		Args: atMostOne("a cause or the name of a case"),
	}, []flagGroup{stateFlag, jobsFlag, formatFlag, quietFlag, remoteFlags, runFlag(&how.Run)}, func(c *cobra.Command, o *regress.Options, args []string) (err error) {
		if len(args) > 0 {
			how.Target = args[0]
		}
		if file == "" {
			return usagef("bisect wants --versions FILE, with a line NAME: COMMAND for each version, the oldest first")
		}
		if how.Versions, err = readVersions(file); err != nil {
			return err
		}
		line := newStatusLine(p.stderr, o.Report.Quiet)
		defer line.end()
		how.Status = line.showOrEnd
		return bisect.Run(c.Context(), *o, newHost(p), how)
	}, differing)
	c.Flags().StringVar(&file, "versions", "", "read versions from `FILE`: a line NAME: COMMAND for each, the oldest first")
	return c
}

// readVersions reads a line NAME: COMMAND for each version.
func readVersions(file string) ([]bisect.Version, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, usagef("--versions: %w", err)
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff")) // some editors begin a file with a byte order mark
	var list []bisect.Version
	lines := map[string]int{} // line numbers by name
	number := 0
	for line := range bytes.Lines(text) {
		number++
		one := strings.TrimSpace(string(line))
		if one == "" || strings.HasPrefix(one, "#") {
			continue
		}
		where := fmt.Sprintf("%s:%d", file, number)
		v, err := parseVersion(one, where)
		if err != nil {
			return nil, err
		}
		if first, known := lines[v.Name]; known {
			return nil, usagef("%s: version %s stands in line %d already", where, v.Name, first)
		}
		lines[v.Name] = number
		list = append(list, v)
	}
	if len(list) == 0 {
		return nil, usagef("%s holds no version: a line is NAME: COMMAND", file)
	}
	return list, nil
}

// parseVersion reads one line. The name ends at a colon with a space after it, because it may
// contain other colons.
func parseVersion(line, where string) (v bisect.Version, err error) {
	at := -1
	for i := range line {
		if line[i] == ':' && i+1 < len(line) && unicode.IsSpace(rune(line[i+1])) {
			at = i
			break
		}
	}
	if at <= 0 {
		return v, usagef("%s: %.100q is not a version: a line is NAME: COMMAND", where, line)
	}
	v = bisect.Version{Name: line[:at], Where: where}
	v.Words, err = splitCommand(where, strings.TrimSpace(line[at+1:]))
	return v, err
}
