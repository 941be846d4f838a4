package main

import (
	"github.com/spf13/cobra"

	"muster/regress"
)

// anyAddress is --web without a value.
const anyAddress = "127.0.0.1:0"

func (p *program) review() *cobra.Command {
	r := regress.Reviewing{Stdin: p.stdin}
	c := p.command(&cobra.Command{
		Use:   "review [--web [ADDR]] [flags]",
		Short: "Decide on the causes of a check, one by one or many at once",
		Long: `Review shows the causes of the last check beside their differences, and takes
decisions: accept, reject, skip. Nothing is written before it is confirmed; then the
decisions are kept with the run, and the cases of which all causes are accepted become
part of the golden. What was decided can be decided otherwise later, but what is in the
golden stays there.

In the terminal ? shows the keys. --web shows the same in a browser, by default
on any free port of this machine alone.`,
		Example: `  muster review
  muster review --run 20250131
  muster review --web
  muster review --web 127.0.0.1:8080`,
		Args: func(c *cobra.Command, args []string) error {
			// A flag that may stand alone takes no value that is not behind a '='.
			if len(args) == 1 && c.Flag("web").Value.String() == anyAddress {
				return nil
			}
			return noneWanted(c, args)
		},
	}, []group{stateFlag}, func(c *cobra.Command, o *regress.Options, args []string) error {
		r.Web = r.Addr != ""
		if len(args) == 1 {
			r.Addr = args[0]
		}
		return regress.Review(c.Context(), *o, r)
	})
	f := c.Flags()
	f.StringVar(&r.Addr, "web", "", "decide in a browser; listen at `ADDR`, "+anyAddress+" if none is given")
	f.Lookup("web").NoOptDefVal = anyAddress
	runFlag(c, &r.Run)
	return c
}
