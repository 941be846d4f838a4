package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func (p *program) version() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  noneWanted,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(p.stdout, versionLine())
			return err
		},
		DisableFlagsInUseLine: true,
	}
}

func versionLine() string {
	return fmt.Sprintf("muster %s %s %s/%s", versionText(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// versionText describes the build.
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
