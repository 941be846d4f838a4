package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func exitCodes() *cobra.Command {
	return &cobra.Command{
		Use:   "exit-codes",
		Short: "What the exit status says",
		Long: `0    all identical, or only known flaky parts differ, or only what --allow names
1    something else is not identical; newly flaky counts
2    usage, configuration, hostile or damaged input, no golden
3    the environment failed: disk full, command not found … (wins over 1)
4    nothing selected
130  interrupted; what was done is kept, --resume goes on

record exits with 0 also when sources fail: that is an outcome like another.`,
	}
}

func (p *program) version() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  noneWanted,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(p.stdout, "muster %s %s %s/%s\n", versionText(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}

// versionText is what the build knows of itself.
func versionText() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	text := info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && text == "(devel)" {
			text = "devel-" + s.Value[:min(12, len(s.Value))]
		}
	}
	return text
}
