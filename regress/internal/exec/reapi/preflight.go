package reapi

import (
	"context"
	"errors"
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
	"muster/regress/internal/exec/reapi/bundle"
	"muster/regress/internal/exec/reapi/client"
	"muster/regress/internal/exec/reapi/tree"
	"muster/regress/internal/fault"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
	"muster/regress/internal/readable"
)

// probeName is a file in the work folder of a preflight: what gives the whole folder back has it.
const probeName = "muster.preflight"

// builderFor makes a command ready, once.
func (e *Engine) builderFor(ctx context.Context, c *exec.Command) (*actionBuilder, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	ready := e.commands[c]
	if ready == nil {
		ready = &preparedCommand{}
		if ready.builder, ready.err = e.prepare(ctx, c); ctx.Err() == nil {
			e.commands[c] = ready
		}
	}
	return ready.builder, ready.err
}

func (e *Engine) prepare(ctx context.Context, c *exec.Command) (*actionBuilder, error) {
	e.o.Doing("reading what travels to the engine")
	b, err := bundle.Make(ctx, bundle.Options{
		Inputs: e.o.Inputs, Exclude: e.o.Exclude, Command: c, Bundle: e.o.Bundle, Cache: e.o.Cache, Note: e.o.Note,
		Library: libraryFolders(e.o.Setting.Env),
	})
	if err != nil {
		return nil, err
	}
	builder, err := newActionBuilder(e.shared, b, e.o.Setting)
	if err != nil {
		return nil, err
	}
	builder.whole, builder.before21 = e.whole, e.client.Before21()
	shared := slices.Collect(builder.sharedBlobs)
	e.o.Doing("sending what all cases share, " + sizeOf(shared))
	if err := e.client.Upload(ctx, shared); err != nil {
		return nil, err
	}
	words := e.preflightWords(c)
	start := builder.bundle.Moved(words)
	if c.Shell || words[0] == c.Words[0] {
		start = builder.bundle.Args(words)
	}
	return builder, e.passPreflight(ctx, builder, words, start)
}

// libraryFolders are those in which the loader looks first for a case's libraries. A relative
// one is below a work folder, in which no library is before the case runs.
func libraryFolders(env []string) (list []string) {
	for _, kv := range env {
		text, ok := strings.CutPrefix(kv, "LD_LIBRARY_PATH=")
		if !ok {
			continue
		}
		list = strings.FieldsFunc(text, func(r rune) bool { return r == ':' || r == ';' })
		list = slices.DeleteFunc(list, func(dir string) bool { return !path.IsAbs(dir) })
	}
	return list
}

// sizeOf says how much contents are that the engine may have already.
func sizeOf(blobs []blob.Blob) string {
	size := int64(0)
	for _, b := range blobs {
		size += b.Digest.Size
	}
	return readable.Size(size) + " unless it has them"
}

// preflightWords are what shows that a command runs. A shell shows no more than that it is
// there, for its script wants a case.
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

// passPreflight runs a command's words on a worker, where start is what they have become. With
// the first command it also finds out how the engine is asked for the whole work folder.
func (e *Engine) passPreflight(ctx context.Context, builder *actionBuilder, words, start []string) error {
	ways := []wholePath{emptyPath, dotPath, noWholePath}
	if e.wholeKnown {
		ways = []wholePath{e.whole}
	}
	var refused error
	for _, way := range ways {
		gives, digest, err := e.runPreflight(ctx, builder, words, start, way)
		if way != noWholePath && refusesPath(err) {
			if refused == nil {
				refused = err
			}
			continue
		}
		if err != nil {
			return err
		}
		if gives || e.wholeKnown {
			e.whole, e.wholeKnown, builder.whole = way, true, way
			e.digests = append(e.digests, digest)
			return e.reportPartial()
		}
	}
	return refused
}

// refusesPath reports whether an engine may not know what to do with an output path. The API's
// text has INVALID_ARGUMENT for that; some that stumble say that it is their own fault.
func refusesPath(err error) bool {
	switch status.Code(err) {
	case codes.InvalidArgument, codes.Unimplemented, codes.Internal, codes.Unknown:
		return !errors.As(err, new(*client.Missing))
	}
	return false
}

// reportPartial says once that the whole folder is not to be had.
func (e *Engine) reportPartial() error {
	if e.Whole() || len(e.digests) > 1 {
		return nil
	}
	return e.o.Partial()
}

// runPreflight runs words once, and reports whether the engine gave back all of the work folder
// that it was asked for.
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
	compare := tree.Compare{Given: action.work, Whole: true, Read: e.client.Read}
	left, err := compare.Files(ctx, resp.result)
	if err != nil && ctx.Err() != nil {
		return false, digest, ctx.Err()
	}
	whole := err == nil && !slices.ContainsFunc(left, func(l tree.Left) bool { return l.Path == probeName })
	return whole, o.Digest(), nil
}

// hintOf says what helps where a preflight failed.
func hintOf(given, started string) string {
	if given == started && strings.Contains(given, "/") && !path.IsAbs(given) {
		return given + " is looked for in the work folder there: --remote-input sends what is here"
	}
	return "what shows that it runs is named by --preflight"
}

// environmentError is of class Environment, or that ctx ended.
func environmentError(ctx context.Context, format string, args ...any) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fault.Environmentf(format, args...)
}

// buildPreflight makes an action with what every case has.
func (b *actionBuilder) buildPreflight(start []string, way wholePath) (*action, error) {
	job := exec.Job{Source: corpus.Entry{Name: probeName}, Command: &exec.Command{Words: start}}
	return b.assemble(job, blob.Of([]byte(probeName)), tree.Command{
		Args: start, Env: b.setting.Env, Folder: workFolder,
		Platform: b.setting.Platform, Before21: b.before21, Outputs: way.outputPaths(),
	})
}

// excerptMax is how much is shown of what a tool said, in bytes.
const excerptMax = 400

// preflightOutcome is what an execution came to but for its files, and what the tool said.
func (run *actionRun) preflightOutcome(ctx context.Context, resp response) (o outcome.Outcome, excerpt string, err error) {
	c := collector{action: run.action, ctx: ctx, store: run.store(), budget: run.action.outputMax}
	if o.Ending, err = run.action.ending(resp); err != nil {
		return o, "", err
	}
	if err = c.stream(outcome.Stdout, resp.result.GetStdoutRaw(), resp.result.GetStdoutDigest()); err == nil {
		err = c.stream(outcome.Stderr, resp.result.GetStderrRaw(), resp.result.GetStderrDigest())
	}
	if err != nil {
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
	text, _ := io.ReadAll(io.LimitReader(f, excerptMax)) // what cannot be read is not said
	return name.Print(strings.Join(strings.Fields(string(text)), " "))
}
