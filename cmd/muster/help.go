package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// usageTemplate is cobra's template without its unused parts, and with the topics.
const usageTemplate = `Usage:{{if .HasAvailableSubCommands}}
  {{.CommandPath}} COMMAND{{else}}
  {{.UseLine}}{{end}}{{if .HasExample}}

Examples:
{{.Example}}{{end}}{{if .HasAvailableSubCommands}}{{$all := .Commands}}{{range $group := .Groups}}

{{.Title}}{{range $all}}{{if and (eq .GroupID $group.ID) .IsAvailableCommand}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}{{end}}{{$title := "\n\nOthers:"}}{{range $all}}{{if and (eq .GroupID "") (or .IsAvailableCommand (eq .Name "help"))}}{{$title}}{{$title = ""}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}{{end}}{{if .HasAvailableLocalFlags}}

{{flagUsages .LocalFlags}}{{end}}{{if .HasHelpSubCommands}}

Topics:{{range .Commands}}{{if .IsAdditionalHelpTopicCommand}}
  {{rpad (printf "muster help %s" .Name) 24}} {{.Short}}{{end}}{{end}}{{end}}{{if .HasAvailableSubCommands}}

"muster help{{if .HasParent}} {{.Name}}{{end}} COMMAND" has more about each.{{end}}
`

// help is cobra's command, but refuses an unknown command.
func help() *cobra.Command {
	return &cobra.Command{
		Use:                   "help [COMMAND]",
		Short:                 "More about a command or a topic",
		DisableFlagsInUseLine: true,
		ValidArgsFunction: func(c *cobra.Command, args []string, _ string) (names []string, _ cobra.ShellCompDirective) {
			if len(args) == 0 {
				for _, sub := range c.Root().Commands() {
					if sub.Hidden {
						continue
					}
					names = append(names, sub.Name()+"\t"+sub.Short)
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(c *cobra.Command, args []string) error {
			about, rest, err := c.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return unknownCommand(c, args)
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
	}
}

func exitCodes() *cobra.Command {
	return &cobra.Command{
		Use:   "exit-codes",
		Short: "The meaning of the exit status",
		Long: `0    every case is identical (known flaky parts are not compared), or has a verdict that
     --allow names
1    a case differs or is newly flaky, or --fail-fast ended the run, or the change costs
     more than --fail-on allows, or --strict found parts that were not compared, or every
     case of a record fails
2    usage, configuration, hostile or damaged input, no golden, or one that was changed
     meanwhile; or the cost cannot be judged for --fail-on
3    the environment failed: disk full, command not found …; takes precedence over 1
4    no case is selected
130  interrupted; finished work is kept, and --resume continues

record exits with 0 even if some sources fail: a failure is an outcome too.
load exits with 1 if requests failed, and with 3 if there is no server.
doctor exits with 3 if record and check do not work.
watch exits with 130 after Ctrl-C, and otherwise with the status of the error that ended it.`,
	}
}

// A section of a help text has the flags on one subject, by their names.
type section struct {
	title string
	flags []string
}

// sections lists the subjects of commands that run cases.
func sections() []section {
	return []section{
		{"What runs", []string{
			"headers", "context", "shell", "stdin", "as", "env", "pass-env", "no-network", "tool-file", "no-tool-file", "observe", "timeout",
			"memory", "output-max", "jobs", "ref", "new", "remote", "engine", "reuse", "remote-cache", "fork-server",
		}},
		{"Which cases", []string{"cases", "filter", "partition", "sample", "all-cases", "failed-first", "fail-fast", "resume"}},
		{"How they are judged", []string{
			"normalize", "ignore", "repeat", "repeat-after", "runs", "retries", "allow", "allow-failures", "strict", "fail-on", "cost-cases",
		}},
		{"Reports", []string{"format", "quiet", "verbose", "color", "junit", "html", "markdown", "github", "events"}},
	}
}

// flagUsages returns the flags of a command for its help text, by subject if the command runs cases.
func flagUsages(all *pflag.FlagSet) string {
	var parts []string
	add := func(title string, has func(name string) bool) {
		some := pflag.NewFlagSet("", pflag.ContinueOnError)
		all.VisitAll(func(f *pflag.Flag) {
			if has(f.Name) {
				shown := *f
				shown.NoOptDefVal = "" // else pflag adds [="VALUE"]; the usage has that in words
				some.AddFlag(&shown)
			}
		})
		if some.HasAvailableFlags() {
			parts = append(parts, title+":\n"+strings.TrimRight(some.FlagUsages(), " \n"))
		}
	}
	inSection := func(string) bool { return false }
	title := "Flags"
	if all.Lookup("headers") != nil { // the command runs cases
		for _, s := range sections() {
			add(s.title, func(name string) bool { return slices.Contains(s.flags, name) })
		}
		inSection = func(name string) bool {
			return slices.ContainsFunc(sections(), func(s section) bool { return slices.Contains(s.flags, name) })
		}
		title = "Others"
	}
	add(title, func(name string) bool { return !inSection(name) })
	return strings.Join(parts, "\n\n")
}

// manPages makes the manual pages. It is hidden because packages bring the pages.
func manPages() *cobra.Command {
	return &cobra.Command{
		Use:    "man DIR",
		Short:  "Write the manual pages to a folder",
		Hidden: true,
		Args:   oneArg("a folder"),
		RunE:   func(c *cobra.Command, args []string) error { return writePages(args[0], c.Root(), thisBuild()) },
	}
}

// verbatim makes the formatter of manual pages print a text as it is.
var verbatim = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`, "\n.", "\n\\&.")

// writePages writes a page with the help of c, and one for each command and topic below it.
func writePages(dir string, c *cobra.Command, b build) error {
	var help strings.Builder
	c.SetOut(&help)
	c.InitDefaultHelpFlag()
	if err := c.Help(); err != nil {
		return err
	}
	name := strings.ReplaceAll(c.CommandPath(), " ", "-")
	page := fmt.Sprintf(".TH %s 1 %s \"muster %s\"\n.SH NAME\n%s \\- %s\n.SH DESCRIPTION\n.nf\n%s.fi\n",
		strings.ToUpper(name), cmp.Or(b.day, "unknown"), b.version, verbatim.Replace(name), verbatim.Replace(c.Short), verbatim.Replace(help.String()))
	if err := os.WriteFile(filepath.Join(dir, name+".1"), []byte(page), 0o644); err != nil {
		return err
	}
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() && sub.Name() != "help" || sub.IsAdditionalHelpTopicCommand() {
			if err := writePages(dir, sub, b); err != nil {
				return err
			}
		}
	}
	return nil
}

// defaultByMachine describes a default that depends on the machine, in the help and in the manual pages.
func defaultByMachine(f *pflag.FlagSet, name, words string) { f.Lookup(name).DefValue = words }
