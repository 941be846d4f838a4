package reapi

import (
	"context"
	"path"
	"slices"
	"strings"

	"muster/internal/readable"
	"muster/regress/internal/exec"
	"muster/regress/internal/exec/reapi/blob"
	"muster/regress/internal/exec/reapi/bundle"
	"muster/regress/internal/outcome"
)

// preparedCommand is a command that has passed its preflight, or the reason why it has not.
type preparedCommand struct {
	builder   *actionBuilder
	preflight outcome.Digest // digest of the preflight's output
	err       error
}

// builderFor prepares a command once. It does not retry a failed one, because each case of it
// would wait as long as the first for an engine that is away.
func (e *Engine) builderFor(ctx context.Context, c *exec.Command) (*actionBuilder, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	ready := e.commands[c]
	if ready == nil {
		ready = &preparedCommand{}
		if ready.err = e.prepare(ctx, c, ready); ctx.Err() == nil {
			e.commands[c] = ready
		}
	}
	return ready.builder, ready.err
}

func (e *Engine) prepare(ctx context.Context, c *exec.Command, ready *preparedCommand) error {
	e.o.Doing("reading what travels to the engine")
	b, err := bundle.Make(ctx, bundle.Options{
		Inputs: e.o.Inputs, Exclude: e.o.Exclude, Command: c, Bundle: e.o.Bundle, Cache: e.o.Cache, Note: e.o.Note,
		Library: libraryFolders(e.o.Setting.Env),
	})
	if err != nil {
		return err
	}
	builder, err := newActionBuilder(e.shared, b, e.o.Setting)
	if err != nil {
		return err
	}
	builder.whole, builder.before21 = e.whole, e.client.Before21()
	shared := slices.Collect(builder.sharedBlobs)
	e.o.Doing("sending what all cases share, " + sizeOf(shared))
	if err := e.client.Upload(ctx, shared); err != nil {
		return err
	}
	words := e.preflightWords(c)
	ready.builder = builder
	ready.preflight, err = e.passPreflight(ctx, builder, words, builder.bundle.Args(words))
	return err
}

// libraryFolders returns the folders in which the loader first looks for a case's libraries. It
// leaves out relative ones: they are below a work folder, which has no library before the case
// runs.
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

// sizeOf describes the size of contents that the engine may already have.
func sizeOf(blobs []blob.Blob) string {
	size := int64(0)
	for _, b := range blobs {
		size += b.Digest.Size
	}
	return readable.Size(size) + " unless it has them"
}
