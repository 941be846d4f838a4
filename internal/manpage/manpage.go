// Package manpage writes the manual pages of a program from its cobra commands: the texts, flags
// and examples of their help. It writes macros of package man, which groff and mandoc read.
package manpage

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// DefaultMark annotates a flag whose default depends on the machine. The annotation replaces the
// default on the page, so that pages are the same wherever they are made.
const DefaultMark = "manual-default"

// Manual is what the pages share.
type Manual struct {
	Version  string
	Day      string // of the version, as 2006-01-02
	Sections func(*pflag.FlagSet) []Section
}

// Section has the flags of a command on one subject.
type Section struct {
	Title string
	Flags *pflag.FlagSet
}

// Write makes a page in dir for c, and for each command and topic below it.
func (m Manual) Write(dir string, c *cobra.Command) error {
	if err := os.WriteFile(filepath.Join(dir, pageName(c)+".1"), []byte(m.page(c)), 0o644); err != nil {
		return err
	}
	for _, sub := range c.Commands() {
		if isListed(sub) {
			if err := m.Write(dir, sub); err != nil {
				return err
			}
		}
	}
	return nil
}

func isListed(c *cobra.Command) bool {
	return c.IsAvailableCommand() && c.Name() != "help" || c.IsAdditionalHelpTopicCommand()
}

func pageName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

func (m Manual) page(c *cobra.Command) string {
	w := &strings.Builder{}
	fmt.Fprintf(w, ".TH \"%s\" 1 \"%s\" \"%s %s\" \"%s manual\"\n.nh\n.ad l\n", escape(strings.ToUpper(pageName(c))), m.Day, c.Root().Name(), escape(m.Version), c.Root().Name())
	fmt.Fprintf(w, ".SH NAME\n%s \\- %s\n", escape(pageName(c)), escape(c.Short))
	isTopic := c.IsAdditionalHelpTopicCommand()
	if !isTopic {
		use := strings.TrimPrefix(c.UseLine(), c.CommandPath())
		if c.HasAvailableSubCommands() {
			use = " COMMAND"
		}
		fmt.Fprintf(w, ".SH SYNOPSIS\n\\fB%s\\fR%s\n", escape(c.CommandPath()), escape(use))
	}
	w.WriteString(".SH DESCRIPTION\n")
	long := c.Long
	if long == "" {
		long = c.Short + "."
	}
	writeText(w, long)
	if c.HasAvailableSubCommands() {
		writeCommands(w, c)
	}
	if !isTopic {
		c.InitDefaultHelpFlag()
		writeFlags(w, m.Sections(c.LocalFlags()))
	}
	if c.HasExample() {
		w.WriteString(".SH EXAMPLES\n")
		writeVerbatim(w, c.Example)
	}
	writeSeeAlso(w, c)
	return w.String()
}

// writeCommands lists the commands below c by group, and then its topics.
func writeCommands(w *strings.Builder, c *cobra.Command) {
	w.WriteString(".SH COMMANDS\n")
	write := func(title string, has func(sub *cobra.Command) bool) {
		for _, sub := range c.Commands() {
			if !isListed(sub) || !has(sub) {
				continue
			}
			if title != "" {
				fmt.Fprintf(w, ".SS %s\n", escape(title))
				title = ""
			}
			fmt.Fprintf(w, ".TP\n\\fB%s\\fR(1)\n%s.\n", escape(pageName(sub)), escape(sub.Short))
		}
	}
	for _, g := range c.Groups() {
		write(strings.TrimSuffix(g.Title, ":"), func(sub *cobra.Command) bool { return sub.GroupID == g.ID })
	}
	others := "Others"
	if len(c.Groups()) == 0 {
		others = ""
	}
	write(others, func(sub *cobra.Command) bool { return sub.GroupID == "" })
}

func writeFlags(w *strings.Builder, sections []Section) {
	w.WriteString(".SH OPTIONS\n")
	for _, s := range sections {
		if s.Title != "Flags" {
			fmt.Fprintf(w, ".SS %s\n", escape(s.Title))
		}
		s.Flags.VisitAll(func(f *pflag.Flag) { writeFlag(w, f) })
	}
}

func writeFlag(w *strings.Builder, f *pflag.Flag) {
	if f.Hidden {
		return
	}
	w.WriteString(".TP\n")
	if f.Shorthand != "" {
		fmt.Fprintf(w, "\\fB\\-%s\\fR, ", f.Shorthand)
	}
	value, usage := pflag.UnquoteUsage(f)
	fmt.Fprintf(w, "\\fB\\-\\-%s\\fR", escape(f.Name))
	if value != "" {
		fmt.Fprintf(w, " \\fI%s\\fR", escape(value))
	}
	fmt.Fprintf(w, "\n%s\n", escape(usage+defaultOf(f, usage)))
}

// defaultOf returns the default of a flag in parentheses, as its help has it.
func defaultOf(f *pflag.Flag, usage string) string {
	if text := f.Annotations[DefaultMark]; len(text) > 0 {
		return " (default: " + text[0] + ")"
	}
	one := pflag.NewFlagSet("", pflag.ContinueOnError)
	one.AddFlag(f)
	_, end, _ := strings.Cut(one.FlagUsages(), usage)
	return strings.TrimRight(end, "\n")
}

func writeSeeAlso(w *strings.Builder, c *cobra.Command) {
	var pages []string
	for up := c.Parent(); up != nil; up = up.Parent() {
		pages = append(pages, pageName(up))
	}
	for _, topic := range c.Root().Commands() {
		if topic.IsAdditionalHelpTopicCommand() && topic != c && c.HasParent() {
			pages = append(pages, pageName(topic))
		}
	}
	for i, p := range pages {
		pages[i] = "\\fB" + escape(p) + "\\fR(1)"
	}
	if len(pages) > 0 {
		fmt.Fprintf(w, ".SH SEE ALSO\n%s\n", strings.Join(pages, ",\n"))
	}
}

var emptyLines = regexp.MustCompile(`\n[ \t]*\n+`)

// columns finds texts whose line breaks and blanks carry meaning, such as tables and code.
var columns = regexp.MustCompile(`(?m)^[ \t]|\S {2,}\S`)

// writeText writes paragraphs. Those with columns stay as they are.
func writeText(w *strings.Builder, text string) {
	for i, paragraph := range emptyLines.Split(strings.Trim(text, "\n"), -1) {
		if i > 0 {
			w.WriteString(".PP\n")
		}
		if columns.MatchString(paragraph) {
			writeVerbatim(w, paragraph)
		} else {
			w.WriteString(escape(paragraph) + "\n")
		}
	}
}

func writeVerbatim(w *strings.Builder, text string) {
	fmt.Fprintf(w, ".nf\n%s\n.fi\n", escape(text))
}

var (
	signs = strings.NewReplacer(`\`, `\(rs`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`, `"`, `\(dq`, "\t", "    ")
	// requests are lines that would be commands to the formatter.
	requests = regexp.MustCompile(`(?m)^\.`)
	foreign  = regexp.MustCompile(`[^\x00-\x7f]`)
)

// escape makes the formatter print text as it is.
func escape(text string) string {
	text = requests.ReplaceAllString(signs.Replace(text), `\&.`)
	return foreign.ReplaceAllStringFunc(text, func(sign string) string { return fmt.Sprintf(`\[u%04X]`, []rune(sign)[0]) })
}
