package regress

import (
	"context"
	"errors"
	"fmt"

	"muster/regress/internal/fault"
	"muster/regress/internal/review"
	"muster/regress/internal/review/web"
)

// inBrowser has the review on a page until somebody ends it there, or ctx ends.
func (w *reviewed) inBrowser(ctx context.Context, o Options, r Reviewing) error {
	var told error
	out, err := web.Run(ctx, web.Options{
		Addr: r.Addr, Certificate: r.Certificate, Key: r.Key, InTheClear: r.InTheClear, Open: w.desk,
		Ready: func(link string) {
			_, told = fmt.Fprintf(o.Report.Stdout, "review of run %s: open this link, which works once, in a browser; Ctrl-C ends the review\n  %s\n", w.past.run.ID, link)
		},
	})
	if out.Idle {
		err = errors.Join(err, fault.Interruptedf("the review ended, for no browser showed it any more"))
	}
	d := &review.Desk{Run: w.past.run.ID, Command: w.past.run.Command}
	return errors.Join(told, err, printUnsaved(&o, out.Unsaved), printReviewed(&o, d, out.Results, err))
}
