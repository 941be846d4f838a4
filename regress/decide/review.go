package decide

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"muster/internal/readable"
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
}

// Review shows the causes of a past run to a reviewer, who decides on them. Once the reviewer confirms,
// Review writes the decisions. It puts cases into the golden if all their causes are accepted.
// It locks the state only while writing. If others decide meanwhile, it writes nothing before the
// reviewer has seen that.
func Review(ctx context.Context, o regress.Options, h host.Host, r ReviewOptions) (err error) {
	in, out, err := openTerminal(h, r)
	if err != nil {
		return err
	}
	w, err := openReviewedRun(&o, h, r.Run)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.stores.close()) }()
	if len(w.agenda.Items) == 0 {
		_, err := fmt.Fprintf(h.Stdout, "nothing to decide: all cases of run %s were identical\n", w.past.Run.ID)
		return err
	}
	desk, err := w.openDesk(ctx)
	if err != nil {
		return err
	}
	if r.Web {
		results, err := reviewInBrowser(ctx, h, desk, r.Addr)
		return errors.Join(err, printUnsaved(h, unsaved(ctx, desk)), printReviewed(h, desk, results, err))
	}
	results, err := screen.Run(ctx, desk, screen.Streams{In: in, Out: out, Colour: console.UsesColour(&o.Report, out), Environ: os.Environ()})
	return errors.Join(err, printUnsaved(h, unsaved(ctx, desk)), printReviewed(h, desk, results, err))
}

// unsaved returns the IDs of decisions that are not written. A failed commit may have written the
// decisions without the cases.
func unsaved(ctx context.Context, d *review.Desk) []string {
	if d.Changes().Empty() {
		return nil
	}
	_ = d.CatchUp(context.WithoutCancel(ctx)) // without the files, what the review knows
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

// reviewInBrowser shows the review on a page until it is finished there, or ctx ends.
func reviewInBrowser(ctx context.Context, h host.Host, d *review.Desk, addr string) ([]review.Result, error) {
	var printed error
	results, err := web.Run(ctx, d, web.Options{Addr: addr, Ready: func(link string) {
		_, printed = fmt.Fprintf(h.Stdout, "review of run %s: open this link, which works once, in a browser; Ctrl-C ends the review\n  %s\n", d.Run, link)
	}})
	return results, errors.Join(err, printed)
}

func printUnsaved(h host.Host, ids []string) error {
	const shown = 40
	if len(ids) == 0 {
		return nil
	}
	text := strings.Join(ids[:min(len(ids), shown)], " ")
	if more := len(ids) - shown; more > 0 {
		text += " and " + readable.Number(more) + " more"
	}
	_, err := fmt.Fprintf(h.Stderr, "warning: decided but not written: %s\n", text)
	return err
}

// printReviewed prints the results of a review. ended is the error that ended it, or nil. A refused
// commit is an error of its own, unless the review was interrupted.
func printReviewed(h host.Host, d *review.Desk, results []review.Result, ended error) error {
	if len(results) == 0 {
		_, err := fmt.Fprintf(h.Stdout, "nothing written\n")
		return err
	}
	var decided, accepted int
	refused := "" // the last time
	for _, r := range results {
		refused = cmp.Or(r.Refused, refused)
		decided, accepted = decided+r.Decided, accepted+r.Accepted
		for _, text := range r.Notes {
			if _, err := fmt.Fprintf(h.Stderr, "warning: %s\n", readable.Text(text)); err != nil {
				return err
			}
		}
	}
	text, rest := fmt.Sprintf("%s on run %s written", readable.Count(decided, "decision"), d.Run), ""
	if d.Command == regress.CheckCommand {
		text += fmt.Sprintf(", accepted %s", readable.Cases(accepted))
	}
	switch {
	case refused != "" && accepted > 0:
		rest = "the decisions are written, and later no further case was accepted: " + readable.Text(refused)
	case refused != "":
		text, rest = "", "the decisions are written, and no case is accepted: "+readable.Text(refused)
	}
	return printRefused(h, text, rest, ended)
}

func printRefused(h host.Host, text, refused string, ended error) (err error) {
	if text != "" {
		_, err = fmt.Fprintln(h.Stdout, text)
	}
	switch {
	case err != nil || refused == "":
		return err
	case regress.ClassOf(ended) == regress.Interrupted:
		_, err = fmt.Fprintf(h.Stderr, "warning: %s\n", refused)
		return err
	}
	return fault.Inputf("%s", refused)
}
