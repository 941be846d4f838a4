package report

import (
	"fmt"
	"strings"

	"muster/internal/readable"
	"muster/regress"
	"muster/regress/internal/name"
)

// toolChanged returns the names of at most most files of the tool that changed since the
// golden was recorded. It returns "" if none changed.
func toolChanged(s regress.Summary, most int) string {
	if len(s.ToolChanged) == 0 {
		return ""
	}
	shown := printedPaths(s.ToolChanged[:min(len(s.ToolChanged), most)])
	text := strings.Join(shown, ", ")
	if more := len(s.ToolChanged) - len(shown); more > 0 {
		text += fmt.Sprintf(" and %s (-v names them)", readable.Count(more, "more file"))
	}
	return text
}

// toolText says how many files the tool has, and how they were found. It returns "" if none is
// known.
func toolText(s regress.Summary) string {
	t := s.Tool
	if t.Files == 0 {
		return ""
	}
	text := "tool: " + readable.Count(t.Files, "file") + ", "
	if t.Observed == 0 {
		text += "guessed from the command\n"
	} else {
		text += fmt.Sprintf("observed on %s of %s\n", readable.Number(t.Observed), readable.Cases(s.Cases))
	}
	if len(t.Varying) > 0 {
		text += "left out of the tool, as they change while it runs: " + readable.Line(name.List(t.Varying, varyingMax)) + "\n"
	}
	return text
}

const varyingMax = 20 // paths in text

func isOrAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// printedPaths returns paths as they are printed. The list is never nil, so that JSON has
// [] and not null.
func printedPaths(paths []string) []string {
	list := make([]string, len(paths))
	for i, path := range paths {
		list[i] = name.Print(path)
	}
	return list
}

// toolProperties returns the properties of a JUnit report about the tool.
func toolProperties(s regress.Summary) []junitProperty {
	if text := toolChanged(s, namedMax); text != "" {
		return []junitProperty{{"tool_changed", text}}
	}
	return nil
}
