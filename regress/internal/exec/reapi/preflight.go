package reapi

import (
	"cmp"
	"context"
	"io"
	"path"
	"slices"
	"strings"

	"al.essio.dev/pkg/shellescape"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"muster/regress/internal/corpus"
	"muster/regress/internal/exec"
	"muster/regress/internal/exec/reapi/blob"
	"muster/regress/internal/exec/reapi/tree"
	"muster/regress/internal/fault"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
)

// probeName is a file in the work folder of a preflight. An engine that returns the whole
// folder returns it.
const probeName = "muster.preflight"

// preflightWords returns the words that show that a command runs. For a shell they only show
// that it exists, because its script needs a case.
func (e *Engine) preflightWords(c *exec.Command) []string {
	chosen := e.o.Preflight
	switch {
	case len(chosen) > 0 && e.isCommand(chosen[0]):
		return append([]string{c.Words[0]}, chosen[1:]...)
	case len(chosen) > 0:
		return chosen
	case c.Shell:
		return []string{c.Path, "-c", ":"}
	}
	return []string{c.Words[0], "--version"}
}

// passPreflight runs the words of a command on a worker. start is their form on the worker. The
// first preflight also finds out how to ask the engine for the whole work folder.
func (e *Engine) passPreflight(ctx context.Context, builder *actionBuilder, words, start []string) (outcome.Digest, error) {
	ways := []wholePath{emptyPath, dotPath, noWholePath}
	if e.wholeKnown {
		ways = []wholePath{e.whole}
	}
	var refused error
	for _, way := range ways {
		gives, digest, err := e.runPreflight(ctx, builder, words, start, way)
		if way != noWholePath && refusesPath(err) {
			refused = cmp.Or(refused, err)
			continue
		}
		if err != nil {
			return digest, err
		}
		if gives || e.wholeKnown {
			return digest, e.settleWhole(builder, way)
		}
	}
	return outcome.Digest{}, refused
}

// refusesPath reports whether the error may mean that the engine does not accept an output
// path. The API specifies INVALID_ARGUMENT. Some engines report an internal error instead.
func refusesPath(err error) bool {
	s, ok := status.FromError(err)
	if !ok {
		return false // the preflight itself failed, or its result could not be read
	}
	return slices.Contains([]codes.Code{codes.InvalidArgument, codes.Unimplemented, codes.Internal, codes.Unknown}, s.Code())
}

// settleWhole records how to ask for the whole folder. If that is impossible, it says so once.
func (e *Engine) settleWhole(builder *actionBuilder, way wholePath) error {
	was := e.wholeKnown
	e.whole, e.wholeKnown, builder.whole = way, true, way
	if was || way != noWholePath {
		return nil
	}
	return e.o.Partial()
}

// runPreflight runs words once, and reports whether the engine returned the whole work folder
// as requested.
func (e *Engine) runPreflight(ctx context.Context, builder *actionBuilder, words, start []string, way wholePath) (gives bool, digest outcome.Digest, err error) {
	action, err := builder.buildPreflight(start, way)
	if err != nil {
		return false, digest, err
	}
	line := name.Print(shellescape.QuoteCommand(words))
	e.o.Doing("its preflight, " + line)
	run := &actionRun{engine: e, builder: builder, action: action}
	resp, err := run.execute(ctx, true)
	if err != nil {
		return false, digest, environmentError(ctx, "the preflight %s did not run: %w", line, err)
	}
	o, excerpt, err := run.preflightOutcome(ctx, resp)
	switch {
	case err != nil:
		return false, digest, environmentError(ctx, "the preflight %s: %w", line, err)
	case !o.Ending.Success():
		return false, digest, fault.Environmentf("the command does not run on the engine: its preflight %s ended with %s%s; %s", line, o.Ending, excerpt, hintOf(words[0], start[0]))
	case way == noWholePath:
		return true, o.Digest(), nil
	}
	compare := tree.Outputs{Before: action.work, Whole: true, Read: e.client.Read}
	left, err := compare.Of(ctx, resp.result)
	if err != nil && ctx.Err() != nil {
		return false, digest, ctx.Err()
	}
	whole := err == nil && !slices.ContainsFunc(left, func(l tree.Output) bool { return l.Path == probeName })
	return whole, o.Digest(), nil
}

// buildPreflight makes an action with everything that a case has.
func (b *actionBuilder) buildPreflight(start []string, way wholePath) (*action, error) {
	job := exec.Job{Source: corpus.Entry{Name: probeName}, Command: &exec.Command{Words: start}}
	return b.assemble(job, blob.Of([]byte(probeName)), tree.Command{
		Args: start, Env: b.setting.Env, Folder: workFolder,
		Platform: b.setting.Platform, Outputs: way.outputPaths(),
	})
}

// environmentError gives err the class Environment, unless ctx ended.
func environmentError(ctx context.Context, format string, args ...any) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fault.Environmentf(format, args...)
}

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
		return given + " is looked for in the work folder there: the key input of [engine] sends what is here"
	}
	return "what shows that it runs is the key preflight of [engine]"
}
