package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"muster/internal/manpage"
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

// flagSections returns the flags of a command by subject.
func flagSections(all *pflag.FlagSet) (list []manpage.Section) {
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
			list = append(list, manpage.Section{Title: title, Flags: some})
		}
	}
	inSection := func(string) bool { return false }
	if all.Lookup("headers") != nil { // the command runs cases
		for _, s := range sections() {
			add(s.title, func(name string) bool { return slices.Contains(s.flags, name) })
		}
		inSection = func(name string) bool {
			return slices.ContainsFunc(sections(), func(s section) bool { return slices.Contains(s.flags, name) })
		}
	}
	title := "Flags"
	if len(list) > 0 {
		title = "Others"
	}
	add(title, func(name string) bool { return !inSection(name) })
	return list
}

// flagUsages returns the flags of a command for its help text.
func flagUsages(all *pflag.FlagSet) string {
	var parts []string
	for _, s := range flagSections(all) {
		parts = append(parts, s.Title+":\n"+strings.TrimRight(s.Flags.FlagUsages(), " \n"))
	}
	return strings.Join(parts, "\n\n")
}

// manPages makes the manual pages. It is hidden because packages bring the pages.
func manPages() *cobra.Command {
	return &cobra.Command{
		Use:    "man DIR",
		Short:  "Write the manual pages to a folder",
		Hidden: true,
		Args:   oneArg("a folder"),
		RunE: func(c *cobra.Command, args []string) error {
			b := thisBuild()
			return manpage.Manual{Version: b.version, Day: b.day, Sections: flagSections}.Write(args[0], c.Root())
		},
	}
}

// defaultByMachine sets the words for a default that depends on the machine, for the manual
// pages.
func defaultByMachine(f *pflag.FlagSet, name, words string) {
	f.Lookup(name).Annotations = map[string][]string{manpage.DefaultMark: {words}}
}
