package main

import (
	"context"

	"github.com/spf13/cobra"

	"muster/lab"
)

func (p *program) labClaims() *cobra.Command {
	var l labFlags
	o := lab.ClaimsOptions{}
	c := &cobra.Command{
		Use:   "claims [flags]",
		Short: "Measure the claims of well-known articles on concurrency",
		Long: `Claims measures 32 claims of four well-known articles on Go and concurrency. It reports
which hold on this machine, which no longer hold, and which stay undecided and why.
Claims about the runner use muster record and make, on a generated corpus of C sources.
Claims about a file service use a server that writes below --dir.
--full uses the articles' sizes, except for the corpus (a fifteenth) and for tasks and
uploads (a tenth).`,
		Example: `  muster lab claims
  muster lab claims --html claims.html
  muster lab claims --full --count 10 --out claims.txt`,
		Args: noneWanted,
		RunE: func(c *cobra.Command, _ []string) error {
			if o.Sizes = lab.ClaimsQuick(); l.full {
				o.Sizes = lab.ClaimsFull()
			}
			return p.measure(c.Context(), &l, &o.Options, labRun{
				func(ctx context.Context) (*lab.Results, error) { return lab.Claims(ctx, o) },
				func(r *lab.Results) lab.Report { return lab.ClaimsReport(r, o) },
			})
		},
	}
	l.add(c.Flags())
	l.addFull(c.Flags(), "use nearly the articles' sizes; takes about an hour")
	c.Flags().StringVar(&o.Dir, "dir", "", "write the corpus and other files below `DIR`, and remove them (default: the system's folder for temporary files)")
	return c
}
