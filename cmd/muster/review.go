package main

import (
	"github.com/spf13/cobra"

	"muster/regress"
	"muster/regress/decide"
)

// anyAddress is the value of --web without an address.
const anyAddress = "127.0.0.1:0"

func (p *program) review() *cobra.Command {
	var r decide.ReviewOptions
	c := p.command(&cobra.Command{
		Use:   "review [--web [ADDR]] [flags]",
		Short: "Decide on the causes of a check, one by one or many at once",
		Long: `Review shows the causes of the last check beside their differences, and takes
decisions: accept, reject, skip. Nothing is written before you confirm it. Then the
decisions are kept with the run, and a case becomes part of the golden once all its
causes are accepted. Decisions can be changed later, but cases already in the golden
stay there.

In the terminal ? shows the keys. --web shows the same in a browser. It prints a link
that works once. By default it listens on a free port, reachable from this machine
only. An address that other machines reach needs a certificate, or --in-the-clear.
The review ends when you finish it in the browser, by Ctrl-C, or half an hour after
the last page is closed.`,
		Example: `  muster review
  muster review --run 20250131
  muster review --web
  muster review --web 127.0.0.1:8080
  muster review --web 0.0.0.0:8443 --tls-cert c.pem --tls-key k.pem`,
		Args: func(c *cobra.Command, args []string) error {
			// a flag that may stand alone takes a value only after a '='
			if len(args) == 1 && c.Flag("web").Value.String() == anyAddress {
				return nil
			}
			return noneWanted(c, args)
		},
	}, []flagGroup{stateFlag, runFlag(&r.Run)}, func(c *cobra.Command, o *regress.Options, args []string) error {
		r.Web = r.Addr != ""
		if len(args) == 1 {
			r.Addr = args[0]
		}
		if !r.Web && (r.Certificate != "" || r.Key != "" || r.InTheClear) {
			return usagef("--tls-cert, --tls-key and --in-the-clear are for --web")
		}
		ctx, l := lending(c.Context())
		defer l.close()
		r.Lend = l.lend
		return decide.Review(ctx, *o, newHost(p), r)
	})
	f := c.Flags()
	f.StringVar(&r.Addr, "web", "", "decide in a browser; listen at `[ADDR]`, "+anyAddress+" if none is given")
	f.Lookup("web").NoOptDefVal = anyAddress
	f.StringVar(&r.Certificate, "tls-cert", "", "with --web: read the certificate from `FILE`, in PEM")
	f.StringVar(&r.Key, "tls-key", "", "with --web: read its key from `FILE`, in PEM")
	f.BoolVar(&r.InTheClear, "in-the-clear", false, "with --web: listen without TLS where others can connect; they could read along and decide")
	onlyGiven(f, "tls-cert", "tls-key") // in a file these keys belong to the client of an engine
	return c
}
