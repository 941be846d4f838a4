package regress

import (
	"strings"

	"muster/regress/internal/fault"
)

// refuseChangedTool refuses to resume a run if a file of the tool changed since. Another
// content is reported first, then a file that was replaced by an equal one.
func refuseChangedTool(was, now map[string]string, run string) error {
	files := func(id map[string]string, of func(string) string) map[string]string {
		list := map[string]string{}
		for key, value := range id {
			if path, ok := strings.CutPrefix(key, toolFile); ok {
				list[path] = of(value)
			}
		}
		return list
	}
	path := differsIn(files(was, digestOf), files(now, digestOf))
	_, known := was[toolFile+path]
	_, found := now[toolFile+path]
	const mend = ": run without --resume"
	switch {
	case path == "":
	case !known:
		return fault.Inputf("--resume: %s is a file of the tool now, and was not one in run %s"+mend, path, run)
	case !found:
		return fault.Inputf("--resume: %s, a file of the tool in run %s, is gone, or another file is found in its place"+mend, path, run)
	default:
		return fault.Inputf("--resume: %s, a file of the tool, is not what it was in run %s"+mend, path, run)
	}
	whole := func(value string) string { return value }
	if path = differsIn(files(was, whole), files(now, whole)); path != "" {
		return fault.Inputf("--resume: %s, a file of the tool, was written to or replaced since run %s began, and may have had other content meanwhile"+mend, path, run)
	}
	return nil
}
