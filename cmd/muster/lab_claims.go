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
		Short: "What well-known articles said of concurrency, measured here",
		Long: `Claims measures, here and now, each of 32 things that four well-known articles on Go
and concurrency said, and tells which hold, which no longer hold, and which cannot be
told and why. The runner's claims are measured with muster record and make on a corpus
of C sources that is written for that, those of a file service with one that writes
below --dir. --full takes the articles' numbers, but for the corpus, which is a
fifteenth of theirs, and the tasks and the uploads, which are a tenth.`,
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
	l.addFull(c.Flags(), "the articles' numbers, nearly: an hour or so")
	c.Flags().StringVar(&o.Dir, "dir", "", "write the corpus and other files below `DIR`, and take them away again (default: where the system has temporary files)")
	return c
}
