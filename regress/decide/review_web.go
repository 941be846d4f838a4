package decide

import (
	"context"
	"errors"
	"fmt"

	"muster/regress/host"
	"muster/regress/internal/fault"
	"muster/regress/internal/review"
	"muster/regress/internal/review/web"
)

// reviewInBrowser shows the review on a page until somebody ends it there, or ctx ends. page says
// where the page is served.
func reviewInBrowser(ctx context.Context, h host.Host, w *reviewedRun, page web.Options) error {
	var printed error
	page.Open = w.openDesk
	page.Ready = func(link string) {
		_, printed = fmt.Fprintf(h.Stdout, "review of run %s: open this link, which works once, in a browser; Ctrl-C ends the review\n  %s\n", w.past.Run.ID, link)
	}
	out, err := web.Run(ctx, page)
	if out.Idle {
		err = errors.Join(err, fault.Interruptedf("the review ended, for no browser showed it any more"))
	}
	d := &review.Desk{Run: w.past.Run.ID, Command: w.past.Run.Command}
	return errors.Join(printed, err, printUnsaved(h, out.Unsaved), printReviewed(h, d, out.Results, err))
}
