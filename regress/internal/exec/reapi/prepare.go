package reapi

import (
	"context"
	"path"
	"slices"
	"strings"
	"time"

	"muster/internal/readable"
	"muster/regress/internal/exec"
	"muster/regress/internal/exec/reapi/blob"
	"muster/regress/internal/exec/reapi/bundle"
	"muster/regress/internal/exec/reapi/tree"
	"muster/regress/internal/fault"
	"muster/regress/internal/name"
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
	builder.whole = e.whole
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

// heldMax is the largest source, in bytes, that stays in memory until it is sent. A larger one
// is read again.
const heldMax = 1 << 20

// action is what an engine executes, and what is needed to read its result.
type action struct {
	digest blob.Digest
	blobs  []blob.Blob // the blobs that it needs beside the shared ones

	job       exec.Job
	outputMax int64                  // bytes that it may leave
	work      *tree.Folder           // the work folder as the case finds it
	program   string                 // the first word of the command on the worker
	outputs   []string               // requested output paths
	whole     bool                   // the output paths are the whole work folder
	counts    func(path string) bool // reports which of the returned files count; nil = all
}

// actionBuilder makes actions of cases, for one command. Several goroutines may use it.
type actionBuilder struct {
	shared  *sharedInputs
	bundle  *bundle.Bundle
	setting Setting
	root    *tree.Folder // inputs that all cases share, made once
	whole   wholePath
}

// newActionBuilder lays out what all cases share. Its caller adds how the engine is asked for
// outputs.
func newActionBuilder(shared *sharedInputs, b *bundle.Bundle, s Setting) (*actionBuilder, error) {
	var d tree.Builder
	if err := shared.addTo(&d); err != nil {
		return nil, err
	}
	if err := b.Place(&d); err != nil {
		return nil, err
	}
	root, err := d.Build()
	if err != nil {
		return nil, fault.Inputf("what all cases are given cannot be sent to an engine: %w", err)
	}
	s.Env = environment(s.Env, b.LocalePath())
	return &actionBuilder{shared: shared, bundle: b, setting: s, root: root}, nil
}

// sharedBlobs yields what all cases need on the engine. It is uploaded once, before the first
// case.
func (b *actionBuilder) sharedBlobs(yield func(blob.Blob) bool) {
	for each := range b.root.Blobs {
		if !yield(each) {
			return
		}
	}
	for i, e := range b.shared.corpus.Given() {
		if !e.IsLink && !yield(b.shared.blobs[i]) {
			return
		}
	}
	for each := range b.bundle.Blobs {
		if !yield(each) {
			return
		}
	}
}

// build makes the action of a case. It reads the source, and makes the messages of the folders
// on its path.
func (b *actionBuilder) build(job exec.Job) (*action, error) {
	source, err := b.source(job)
	if err != nil {
		return nil, err
	}
	command, counts := b.command(job)
	action, err := b.assemble(job, source, command)
	if err == nil {
		action.counts, action.whole = counts, b.whole != noWholePath
	}
	return action, err
}

func (b *actionBuilder) assemble(job exec.Job, source blob.Blob, c tree.Command) (*action, error) {
	refused := func(err error) error {
		return fault.Inputf("%s cannot be sent to an engine: %w", name.Print(job.Source.Name), err)
	}
	root, messages, err := b.root.With(workFolder+"/"+job.Source.Name, tree.File{Digest: source.Digest, Exec: job.Source.Exec})
	if err != nil {
		return nil, refused(err)
	}
	command, err := c.Blob()
	if err != nil {
		return nil, refused(err)
	}
	message, err := tree.Action{
		Command: command.Digest, Input: root.Digest(), Timeout: wholeSeconds(b.setting.Timeout), Platform: b.setting.Platform,
	}.Blob()
	if err != nil {
		return nil, refused(err)
	}
	return &action{
		digest: message.Digest,
		blobs:  append(messages, source, command, message),
		job:    job, outputMax: b.setting.OutputMax, work: root.Sub(workFolder), program: c.Args[0], outputs: c.Outputs,
	}, nil
}

// wholeSeconds rounds up. Buildbox drops fractions of a second, and takes zero seconds for no
// timeout.
func wholeSeconds(d time.Duration) time.Duration {
	whole := d.Truncate(time.Second)
	if up := whole + time.Second; whole < d && up > 0 {
		return up
	}
	return whole
}

func (b *actionBuilder) source(job exec.Job) (blob.Blob, error) {
	switch {
	case job.Content != nil:
		return blob.Of(job.Content), nil
	case job.Source.Size > heldMax:
		return stored(b.shared.corpus, job.Source)
	}
	return heldBlob(b.shared.corpus, job.Source)
}

func (b *actionBuilder) command(job exec.Job) (c tree.Command, counts func(path string) bool) {
	c = tree.Command{
		Args: b.bundle.CaseArgs(job.Command, job.Source.Name), Env: b.setting.Env, Folder: workFolder,
		Platform: b.setting.Platform,
	}
	if c.Outputs = b.whole.outputPaths(); c.Outputs == nil && b.setting.Outputs != nil {
		c.Outputs, counts = b.setting.Outputs(job)
	}
	return c, counts
}

// Setting describes how cases become actions. OutputMax is required. All of it is part of an
// action's digest, except OutputMax and the choice of outputs that count.
type Setting struct {
	Env       []string // K=V, in addition to the variables of every case
	Platform  []Property
	Timeout   time.Duration
	OutputMax int64 // bytes

	// Outputs is for engines that do not return the whole work folder. It returns the names to
	// request for a case, and a function that reports which of the returned files count: a
	// requested name may be a folder. A nil function means all.
	Outputs func(job exec.Job) (names []string, counts func(path string) bool)
}

// environment returns the variables of a case on a worker. extra overrides them. PATH is not
// the caller's, which belongs to another machine. An engine has no empty home for each case,
// but sandboxes have a /tmp. locales is the folder with the data of the usual locale, if they
// travel.
func environment(extra []string, locales string) []string {
	env := exec.Environment([]string{
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		"HOME=/tmp",
		"TMPDIR=/tmp",
	}, extra)
	if locales != "" && slices.Contains(env, exec.Locale) && !slices.ContainsFunc(env, func(kv string) bool { return strings.HasPrefix(kv, "LOCPATH=") }) {
		env = append(env, "LOCPATH="+locales) // a worker may have the data of another locale
	}
	return env
}

// workFolder is the folder below an action's root in which the command runs. What lies beside
// it is not part of what a case finds or leaves.
const workFolder = "work"

// wholePath is the output path that requests the whole work folder.
type wholePath uint8

// The paths. The API specifies the empty path. Buildbox knows it only if the work folder is the
// root of the input, and knows the other path always.
const (
	noWholePath wholePath = iota
	emptyPath
	dotPath
)

func (w wholePath) outputPaths() []string {
	switch w {
	case emptyPath:
		return []string{""}
	case dotPath:
		return []string{"."}
	}
	return nil
}
