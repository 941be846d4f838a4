package reapi

import (
	"slices"
	"strings"
	"time"

	"muster/regress/internal/exec"
	"muster/regress/internal/exec/reapi/blob"
	"muster/regress/internal/exec/reapi/bundle"
	"muster/regress/internal/exec/reapi/tree"
	"muster/regress/internal/fault"
	"muster/regress/internal/name"
)

// heldMax is how large a source, in bytes, is kept in memory until it is sent; a larger
// one is read again.
const heldMax = 1 << 20

// Setting says how cases become actions. OutputMax must be set; all else may be left out. Everything that is in it is in an action's digest,
// but for OutputMax, Whole and what of the outputs counts.
type Setting struct {
	Env       []string // K=V, beside what every case gets
	Platform  []tree.Property
	Timeout   time.Duration
	OutputMax int64 // bytes
	Before21  bool  // the engine knows no output paths

	// Whole is the output path that stands for the whole work folder: WholeEmpty or
	// WholeDot, whichever the engine takes. Where it takes neither, NotWhole, and Outputs
	// says which names are asked for of a case, and which of the files that come for them
	// count: what a name asks for may be a folder. A nil counts is all.
	Whole   Whole
	Outputs func(job exec.Job) (names []string, counts func(path string) bool)
}

// Whole is how an engine is asked for the whole work folder.
type Whole uint8

// The ways. The API's text has the empty path; buildbox knows that one only where the work
// folder is the root of the input, and the other everywhere.
const (
	NotWhole Whole = iota
	WholeEmpty
	WholeDot
)

// Actions turns cases into actions for one command. It may be used by several goroutines.
type Actions struct {
	given  *Given
	bundle *bundle.Bundle
	s      Setting
	root   *tree.Folder // what all cases share: made once
}

// NewActions lays out what all cases share.
func NewActions(g *Given, b *bundle.Bundle, s Setting) (*Actions, error) {
	var d tree.Draft
	if err := g.place(&d); err != nil {
		return nil, err
	}
	if err := b.Place(&d); err != nil {
		return nil, err
	}
	root, err := d.Done()
	if err != nil {
		return nil, fault.Inputf("what all cases are given cannot be sent to an engine: %w", err)
	}
	s.Env = environment(s.Env, b.LocalePath())
	return &Actions{given: g, bundle: b, s: s, root: root}, nil
}

// Shared yields what all cases need on the engine: to be uploaded once, before the first.
func (a *Actions) Shared(yield func(blob.Blob) bool) {
	for b := range a.root.Blobs {
		if !yield(b) {
			return
		}
	}
	for i, e := range a.given.corpus.Given() {
		if e.Target == "" && !yield(a.given.blobs[i]) {
			return
		}
	}
	for b := range a.bundle.Blobs {
		if !yield(b) {
			return
		}
	}
}

// Action is one run of one case.
type Action struct {
	Digest blob.Digest
	Blobs  []blob.Blob // that it needs beside the shared ones

	job    exec.Job
	s      *Setting
	work   *tree.Folder           // as the case finds it
	asked  []string               // output paths
	starts string                 // the first word of the command, as the worker has it
	counts func(path string) bool // which of the files that come for them; nil = all
}

// Of makes the action of a case. What it costs is to read the source and to make the
// messages of the folders on its path.
func (a *Actions) Of(job exec.Job) (*Action, error) {
	source, err := a.source(job)
	if err != nil {
		return nil, err
	}
	command, counts := a.command(job)
	action, err := a.action(job, source, command)
	if err == nil {
		action.counts = counts
	}
	return action, err
}

func (a *Actions) action(job exec.Job, source blob.Blob, c tree.Command) (*Action, error) {
	refused := func(err error) error {
		return fault.Inputf("%s cannot be sent to an engine: %w", name.Print(job.Source.Name), err)
	}
	root, messages, err := a.root.With(workFolder+"/"+job.Source.Name, tree.File{Digest: source.Digest, Exec: job.Source.Exec})
	if err != nil {
		return nil, refused(err)
	}
	command, err := c.Blob()
	if err != nil {
		return nil, refused(err)
	}
	action, err := tree.Action{
		Command: command.Digest, Input: root.Digest(), Timeout: wholeSeconds(a.s.Timeout), Platform: a.s.Platform,
	}.Blob()
	if err != nil {
		return nil, refused(err)
	}
	return &Action{
		Digest: action.Digest,
		Blobs:  append(messages, source, command, action),
		job:    job, s: &a.s, work: root.Sub(workFolder), asked: c.Outputs, starts: c.Args[0],
	}, nil
}

// wholeSeconds rounds up: buildbox leaves off what is less than a second, and takes what is
// left for no timeout at all where that is nothing.
func wholeSeconds(d time.Duration) time.Duration {
	whole := d.Truncate(time.Second)
	if up := whole + time.Second; whole < d && up > 0 {
		return up
	}
	return whole
}

func (a *Actions) source(job exec.Job) (blob.Blob, error) {
	switch {
	case job.Content != nil:
		return blob.Of(job.Content), nil
	case job.Source.Size > heldMax:
		return stored(a.given.corpus, job.Source)
	}
	return held(a.given.corpus, job.Source)
}

func (a *Actions) command(job exec.Job) (c tree.Command, counts func(path string) bool) {
	c = tree.Command{
		Args: a.bundle.For(job.Command, job.Source.Name), Env: a.s.Env, Folder: workFolder,
		Platform: a.s.Platform, Before21: a.s.Before21,
	}
	if job.Command.Stdin {
		// The API has no standard input, so a shell opens it.
		c.Args = slices.Concat(a.bundle.Shell(), []string{"-c", `exec "$@" <"$0"`, job.Source.Name}, c.Args)
	}
	if c.Outputs = a.s.Whole.paths(); c.Outputs == nil && a.s.Outputs != nil {
		c.Outputs, counts = a.s.Outputs(job)
	}
	return c, counts
}

func (w Whole) paths() []string {
	switch w {
	case WholeEmpty:
		return []string{""}
	case WholeDot:
		return []string{"."}
	}
	return nil
}

const usualLocale = "LC_ALL=C.UTF-8"

// environment is what a case finds on a worker; extra wins. PATH is not the caller's, which
// is of another machine. An engine has no empty home for each case; sandboxes have a /tmp.
// locales is where the data of the usual locale are, if they travel.
func environment(extra []string, locales string) []string {
	env := []string{
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		"HOME=/tmp",
		"TMPDIR=/tmp",
		usualLocale,
		"TZ=UTC",
		"SOURCE_DATE_EPOCH=1577836800",
	}
	for _, kv := range extra {
		key, _, _ := strings.Cut(kv, "=")
		env = slices.DeleteFunc(env, func(have string) bool { return strings.HasPrefix(have, key+"=") })
		env = append(env, kv)
	}
	if locales != "" && slices.Contains(env, usualLocale) && !slices.ContainsFunc(env, func(kv string) bool { return strings.HasPrefix(kv, "LOCPATH=") }) {
		env = append(env, "LOCPATH="+locales) // of another locale a worker may have the data
	}
	return env
}
