package decide

import (
	"context"
	"errors"
	"fmt"
	"os"

	"muster/internal/terminal"
	"muster/regress"
	"muster/regress/host"
	"muster/regress/internal/console"
	"muster/regress/internal/fault"
	"muster/regress/internal/review"
	screen "muster/regress/internal/review/terminal"
	"muster/regress/internal/review/web"
)

// ReviewOptions say how to review.
type ReviewOptions struct {
	Run  string // ID of a check or compare, or its beginning; "" = the last
	Web  bool   // in a browser instead of the terminal
	Addr string // with Web: where to listen; empty = any free port of this machine alone

	// With Web, for an address that other machines reach: files in PEM, or no TLS at all.
	Certificate, Key string
	InTheClear       bool

	// Lend is called before the reviewer's editor starts, and back when the editor has ended.
	// In between, ctx must not end by Ctrl-C, which is meant for the editor. nil = do nothing.
	Lend func() (back func())
}

// Review shows the causes of a past run to a reviewer, who decides on them. Once the reviewer confirms,
// Review writes the decisions. It puts cases into the golden if all their causes are accepted.
// Several reviewers may work at once: each locks the state only while writing, and conflicting
// decisions are shown.
func Review(ctx context.Context, o regress.Options, h host.Host, r ReviewOptions) (err error) {
	in, out, err := openTerminal(h, r)
	if err != nil {
		return err
	}
	w, err := openReviewedRun(ctx, &o, h, r.Run)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	if len(w.agenda.Items) == 0 {
		_, err := fmt.Fprintf(h.Stdout, "nothing to decide: all cases of run %s were identical\n", w.past.Run.ID)
		return err
	}
	if r.Web {
		return reviewInBrowser(ctx, h, w, web.Options{Addr: r.Addr, Certificate: r.Certificate, Key: r.Key, InTheClear: r.InTheClear})
	}
	desk, err := w.openDesk(ctx)
	if err != nil {
		return err
	}
	results, err := screen.Run(ctx, desk, screen.Streams{In: in, Out: out, Colour: console.UsesColour(&o.Report, out), Environ: os.Environ(), Lend: func() func() { return r.lend(in) }})
	return errors.Join(err, printUnsaved(h, unsaved(ctx, desk)), printReviewed(h, desk, results, err))
}

// lend leaves the terminal to an editor. back restores the settings of the terminal, because a killed
// editor leaves its own.
func (r *ReviewOptions) lend(in *os.File) (back func()) {
	restore, end := terminal.Keep(in), func() {}
	if r.Lend != nil {
		end = r.Lend()
	}
	return func() {
		restore()
		end()
	}
}

// unsaved returns the IDs of decisions that are not written. A failed commit may have written the
// decisions without the cases.
func unsaved(ctx context.Context, d *review.Desk) []string {
	if d.Changes().Empty() {
		return nil
	}
	if now, err := d.Look(context.WithoutCancel(ctx)); err == nil {
		d.CatchUp(now)
	}
	return d.Changes().IDs()
}

// openTerminal returns both directions of the terminal on which a review is shown.
func openTerminal(h host.Host, r ReviewOptions) (in, out *os.File, err error) {
	if r.Web {
		return nil, nil, nil
	}
	in, isFile := h.Stdin.(*os.File)
	out, isFileToo := h.Stdout.(*os.File)
	if !isFile || !isFileToo || !terminal.Is(in) || !terminal.Moves(out, os.Getenv) {
		return nil, nil, fault.Inputf("review wants a terminal to show differences on and to take keys from: " +
			"muster review --web shows them in a browser, muster groups prints the causes, muster accept takes them")
	}
	return in, out, nil
}
