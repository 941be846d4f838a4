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

// probe is a file in the work folder of a preflight: what gives the whole folder back has it.
const probe = "muster.preflight"

// actionsFor makes a command ready, once.
func (e *Engine) actionsFor(ctx context.Context, c *exec.Command) (*Actions, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	r := e.commands[c]
	if r == nil {
		r = &ready{}
		if r.actions, r.err = e.prepare(ctx, c); ctx.Err() == nil {
			e.commands[c] = r
		}
	}
	return r.actions, r.err
}

func (e *Engine) prepare(ctx context.Context, c *exec.Command) (*Actions, error) {
	e.o.Doing("reading what travels to the engine")
	b, err := bundle.Make(ctx, bundle.Options{
		Inputs: e.o.Inputs, Exclude: e.o.Exclude, Command: c, Bundle: e.o.Bundle, Cache: e.o.Cache, Note: e.o.Note,
		Library: libraryFolders(e.o.Setting.Env),
	})
	if err != nil {
		return nil, err
	}
	s := e.o.Setting
	s.Whole = e.whole
	a, err := NewActions(e.given, b, s)
	if err != nil {
		return nil, err
	}
	shared := slices.Collect(a.Shared)
	e.o.Doing("sending what all cases share, " + sizeOf(shared))
	if err := e.client.Upload(ctx, shared); err != nil {
		return nil, err
	}
	words := e.preflightOf(c)
	start := a.bundle.Moved(words)
	if c.Shell || words[0] == c.Words[0] {
		start = a.bundle.Args(words)
	}
	return a, e.preflight(ctx, a, words, start)
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

// preflightOf is what shows that a command runs. A shell shows no more than that it is
// there, for its script wants a case.
func (e *Engine) preflightOf(c *exec.Command) []string {
	given := e.o.Preflight
	switch {
	case len(given) > 0 && e.names(given[0]):
		return append([]string{c.Words[0]}, given[1:]...)
	case len(given) > 0:
		return given
	case c.Shell:
		return []string{c.Path, "-c", ":"}
	}
	return []string{c.Words[0], "--version"}
}

// preflight runs a command's words on a worker, where start is what they have become. With
// the first command it also finds out how the engine is asked for the whole work folder.
func (e *Engine) preflight(ctx context.Context, a *Actions, words, start []string) error {
	ways := []Whole{WholeEmpty, WholeDot, NotWhole}
	if e.known {
		ways = []Whole{e.whole}
	}
	var refused error
	for _, way := range ways {
		gives, digest, err := e.flight(ctx, a, words, start, way)
		if way != NotWhole && refuses(err) {
			if refused == nil {
				refused = err
			}
			continue
		}
		if err != nil {
			return err
		}
		if gives || e.known {
			e.whole, e.known, a.s.Whole = way, true, way
			e.digests = append(e.digests, digest)
			return e.tellPartial()
		}
	}
	return refused
}

// refuses reports whether an engine may not know what to do with an output path. The API's
// text has INVALID_ARGUMENT for that; some that stumble say that it is their own fault.
func refuses(err error) bool {
	s, ok := status.FromError(err)
	if !ok {
		return false // the preflight itself failed, or what came of it
	}
	switch s.Code() {
	case codes.InvalidArgument, codes.Unimplemented, codes.Internal, codes.Unknown:
		return !errors.As(err, new(*client.Missing))
	}
	return false
}

// tellPartial says once that the whole folder is not to be had.
func (e *Engine) tellPartial() error {
	if e.Whole() || len(e.digests) > 1 {
		return nil
	}
	return e.o.Partial()
}

// flight runs words once, and reports whether the engine gave back all of the work folder
// that it was asked for.
func (e *Engine) flight(ctx context.Context, a *Actions, words, start []string, way Whole) (gives bool, digest outcome.Digest, err error) {
	action, err := a.preflight(start, way)
	if err != nil {
		return false, digest, err
	}
	line := name.Print(shellescape.QuoteCommand(words))
	e.o.Doing("its preflight, " + line)
	x := &execution{engine: e, shared: a, action: action}
	came, err := x.execute(ctx, true)
	if err != nil {
		return false, digest, failing(ctx, "the preflight %s did not run: %w", line, err)
	}
	o, said, err := x.words(ctx, came)
	switch {
	case err != nil:
		return false, digest, failing(ctx, "the preflight %s: %w", line, err)
	case !o.Ending.Success():
		return false, digest, fault.Environmentf("the command does not run on the engine: its preflight %s ended with %s%s; %s", line, o.Ending, said, mend(words[0], start[0]))
	case way == NotWhole:
		return true, o.Digest(), nil
	}
	compare := tree.Compare{Given: action.work, Whole: true, Read: e.client.Read}
	left, err := compare.Files(ctx, came.Result)
	if err != nil && ctx.Err() != nil {
		return false, digest, ctx.Err()
	}
	whole := err == nil && !slices.ContainsFunc(left, func(l tree.Left) bool { return l.Path == probe })
	return whole, o.Digest(), nil
}

// mend says what helps where a preflight failed.
func mend(given, started string) string {
	if given == started && strings.Contains(given, "/") && !path.IsAbs(given) {
		return given + " is looked for in the work folder there: --remote-input sends what is here"
	}
	return "what shows that it runs is named by --preflight"
}

// failing is of class Environment, or that ctx ended.
func failing(ctx context.Context, format string, args ...any) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fault.Environmentf(format, args...)
}

// preflight is an action with what every case has.
func (a *Actions) preflight(start []string, way Whole) (*Action, error) {
	job := exec.Job{Source: corpus.Entry{Name: probe}, Command: &exec.Command{Words: start}}
	return a.action(job, blob.Of([]byte(probe)), tree.Command{
		Args: start, Env: a.s.Env, Folder: workFolder,
		Platform: a.s.Platform, Before21: a.s.Before21, Outputs: way.paths(),
	})
}

// saidMax is how much is shown of what a tool said, in bytes.
const saidMax = 400

// words is what an execution came to but for its files, and what the tool said.
func (x *execution) words(ctx context.Context, came Came) (o outcome.Outcome, said string, err error) {
	t := taking{Action: x.action, ctx: ctx, contents: x.contents(), room: x.action.s.OutputMax}
	if o.Ending, err = x.action.ending(came); err != nil {
		return o, "", err
	}
	if err = t.stream(outcome.Stdout, came.Result.GetStdoutRaw(), came.Result.GetStdoutDigest()); err == nil {
		err = t.stream(outcome.Stderr, came.Result.GetStderrRaw(), came.Result.GetStderrDigest())
	}
	if err != nil {
		return o, "", err
	}
	o.Parts = t.parts
	if o.Ending.Success() {
		return o, "", nil
	}
	r := exec.NewResult(o, outcome.Cost{}, exec.NoLane, t.kept, nil)
	for _, p := range slices.Backward(o.Parts) {
		if said = saidIn(r, p); said != "" {
			return o, ": " + said, nil
		}
	}
	return o, "", nil
}

func saidIn(r *exec.Result, p outcome.Part) string {
	f, err := r.Open(p)
	if err != nil {
		return ""
	}
	defer f.Close()
	text, _ := io.ReadAll(io.LimitReader(f, saidMax)) // what cannot be read is not said
	return name.Print(strings.Join(strings.Fields(string(text)), " "))
}
