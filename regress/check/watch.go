package check

import (
	"bytes"
	"cmp"
	"context"
	"fmt"

	"muster/internal/readable"
	"muster/regress"
	"muster/regress/host"
	"muster/regress/internal/console"
	"muster/regress/internal/fault"
	"muster/regress/internal/name"
)

// restlessMax is the number of checks in a row with a change that is reported. People rarely save as often.
const restlessMax = 5

// Watch makes a check at once, and another one whenever a file of the tool changes. A change ends a
// check under way. The next one begins with the cases that were not identical, once no file has
// changed for a while. An error of the first check ends Watch. Errors of later ones go to failed, because
// another version of the tool may mend them. Otherwise Watch returns when ctx ends.
func Watch(ctx context.Context, o regress.Options, h host.Host, failed func(error)) error {
	switch {
	case o.Store.Resume:
		return fault.Inputf("watch begins a new check each time: leave out --resume, or finish the run with muster check --resume first")
	case o.Corpus.Path == "-":
		return fault.Inputf("watch reads the corpus more than once: name a file or a folder instead of -")
	}
	o.Select.FailedFirst = true
	o.Report.Colour = regress.ColourNever
	if console.UsesColour(&o.Report, h.Stdout) {
		o.Report.Colour = regress.ColourAlways
	}
	w := &watcher{pollEvery: pollEvery, quietFor: quietFor}
	restless := 0 // checks in a row during which the tool changed
	for isFirst := true; ; isFirst = false {
		err := w.check(ctx, o, h)
		switch {
		case ctx.Err() != nil:
			return cmp.Or(err, ctx.Err())
		case w.output != nil, isFirst && err != nil && !w.isObsolete:
			return err
		case len(w.state) == 0:
			return fault.Inputf("there is no file of the tool to watch on this machine: --tool-file names some")
		case err != nil && !w.isObsolete:
			failed(err)
		}
		changed, err := w.next(ctx, func() {
			restless = -1 // the next change is none during a check
			if !o.Report.Quiet {
				fmt.Fprintf(h.Stderr, "note: watching %s of the tool, Ctrl-C ends\n", readable.Count(len(w.state), "path"))
			}
		})
		if err != nil {
			return err
		}
		if restless++; restless == restlessMax {
			fmt.Fprintf(h.Stderr, "warning: the tool changed during each of the last %s: if the tool itself changes %s, leave that file out with --no-tool-file\n", readable.Count(restlessMax, "check"), name.Print(changed))
		}
		if !o.Report.Quiet {
			fmt.Fprintf(h.Stderr, "note: %s changed, checking again\n", name.Print(changed))
		}
	}
}

// check makes a check. It prints the results, unless the check is obsolete.
func (w *watcher) check(ctx context.Context, o regress.Options, h host.Host) error {
	var results bytes.Buffer
	stdout := h.Stdout
	h.Stdout = &results
	w.isObsolete = false
	_, err := runFor(ctx, o, h, w)
	if w.isObsolete && ctx.Err() == nil {
		return err
	}
	if _, w.output = results.WriteTo(stdout); w.output != nil {
		return fault.Environmentf("standard output: %w", w.output)
	}
	return err
}
