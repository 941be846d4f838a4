package reapi

import (
	"context"
	"io"
	"path"
	"slices"
	"strings"

	"muster/regress/internal/exec"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
)

// excerptMax is the number of bytes that are shown of a tool's output.
const excerptMax = 400

// preflightOutcome is the result of an execution without its files, and an excerpt of the
// tool's output if it failed.
func (run *actionRun) preflightOutcome(ctx context.Context, resp response) (o outcome.Outcome, excerpt string, err error) {
	c := collector{action: run.action, ctx: ctx, store: run.store(0), budget: run.action.outputMax}
	if o.Ending, err = c.process(resp); err != nil {
		return o, "", err
	}
	o.Parts = c.parts
	if o.Ending.Success() {
		return o, "", nil
	}
	r := exec.NewResult(o, outcome.Cost{}, exec.NoLane, c.contents, nil)
	for _, p := range slices.Backward(o.Parts) {
		if excerpt = excerptOf(r, p); excerpt != "" {
			return o, ": " + excerpt, nil
		}
	}
	return o, "", nil
}

func excerptOf(r *exec.Result, p outcome.Part) string {
	f, err := r.Open(p)
	if err != nil {
		return ""
	}
	defer f.Close()
	text, _ := io.ReadAll(io.LimitReader(f, excerptMax)) // output that cannot be read is left out
	return name.Print(strings.Join(strings.Fields(string(text)), " "))
}

// hintOf suggests a remedy for a failed preflight.
func hintOf(given, started string) string {
	if given == started && strings.Contains(given, "/") && !path.IsAbs(given) {
		return given + " is looked for in the work folder there: --remote-input sends what is here"
	}
	return "what shows that it runs is named by --preflight"
}
