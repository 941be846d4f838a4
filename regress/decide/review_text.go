package decide

import (
	"cmp"
	"fmt"
	"strings"

	"muster/internal/readable"
	"muster/regress"
	"muster/regress/host"
	"muster/regress/internal/fault"
	"muster/regress/internal/review"
)

// printUnsaved warns of decisions that are not written.
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
