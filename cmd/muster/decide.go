package main

import (
	"github.com/spf13/cobra"

	"muster/regress"
	"muster/regress/decide"
)

func (p *program) accept() *cobra.Command {
	var a decide.AcceptOptions
	c := p.command(&cobra.Command{
		Use:   "accept G1...|NAME...|--all|--cases GLOB [flags]",
		Short: "Write new outcomes into the golden",
		Long: `Accept writes outcomes of the last check into the golden, all or nothing. It refuses if the
golden has changed since the check, except by other accepts from that check. For a golden
at an address, set MUSTER_TOKEN to the access token of its server.

Accepting a cause such as G1 of muster groups counts for this check only. A case enters
the golden once all its causes are accepted. If a case is itself named G1, write ./G1.

--all skips cases that newly fail, crash or reach a limit; --failing accepts them too.
It also skips cases that the corpus no longer has; --missing drops them from the golden.
--cases accepts only cases that match one of its globs. --cases without a name or a cause
implies --all.

If you accept all differences of a check of all cases, the golden also gets the check's
command and settings. A plain check runs them from then on. --keep-command keeps the old
command in the golden.

The golden keeps who accepted, when, and the reason of -m. muster golden info and
muster show print these.`,
		Example: `  muster accept G1 G3
  muster accept a/b.go a/c.go
  muster accept --all --dry-run
  muster accept --cases 'net/**' -m "the new resolver"
  muster accept --all --missing`,
	}, []flagGroup{stateFlag, acceptedFlags, runFlag(&a.Run)}, func(c *cobra.Command, o *regress.Options, args []string) error {
		a.Names = args
		_, err := decide.Accept(c.Context(), *o, newHost(p), a)
		return err
	}, causesAndCases)
	f := c.Flags()
	f.BoolVar(&a.All, "all", false, "accept everything that is not left out")
	f.BoolVar(&a.Failing, "failing", false, "with --all: accept also what crashed, failed newly or reached a limit")
	f.BoolVar(&a.Missing, "missing", false, "with --all: drop what the corpus no longer has")
	f.BoolVar(&a.DryRun, "dry-run", false, "only say what would be done")
	f.StringArrayVar(&a.Globs, "cases", nil, "accept only cases that match `GLOB`; repeatable")
	f.StringVarP(&a.Reason, "reason", "m", "", "keep `REASON` in the golden")
	f.StringVar(&a.Golden, "golden", "", "accept into the golden `FILE`, or the one at an address (default the one of the run)")
	f.BoolVar(&a.KeepCommand, "keep-command", false, "leave the golden's command as it is")
	onlyGiven(f, "cases", "golden")
	return c
}

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
