package reapi

import (
	"time"

	"muster/regress/internal/exec"
	"muster/regress/internal/exec/reapi/blob"
	"muster/regress/internal/exec/reapi/bundle"
	"muster/regress/internal/exec/reapi/tree"
	"muster/regress/internal/fault"
	"muster/regress/internal/name"
)

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
	shared   *sharedInputs
	bundle   *bundle.Bundle
	setting  Setting
	root     *tree.Folder // inputs that all cases share, made once
	whole    wholePath
	before21 bool // the engine does not know output paths
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
		if e.Target == "" && !yield(b.shared.blobs[i]) {
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
		Platform: b.setting.Platform, Before21: b.before21,
	}
	if c.Outputs = b.whole.outputPaths(); c.Outputs == nil && b.setting.Outputs != nil {
		c.Outputs, counts = b.setting.Outputs(job)
	}
	return c, counts
}
