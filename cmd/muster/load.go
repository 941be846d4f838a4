package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"muster/files/load"
	"muster/regress"
)

const operationsGroup = "operations"

func (p *program) load() *cobra.Command {
	c := &cobra.Command{
		Use:   "load",
		Short: "Put a file service under load and measure it",
		Long: `Load asks a file service for much at the same time: CONCURRENCY connections make
REQUESTS requests in all, and request i concerns file i, of SIZE bytes. Bodies are made
and compared in memory; the names of all files begin with load/.

It exits with 0 when all requests succeeded, 1 when some failed, 3 when the server
cannot be reached, and 130 when it was interrupted.`,
		Example: `  muster load upload 500 200000 50K          500 connections, 200,000 files of 50 KB
  muster load download 500 200000 50K        read them, and compare each
  muster load clean                          take away all that loads have left`,
		Args: unknownSubcommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddGroup(&cobra.Group{ID: operationsGroup, Title: "Operations:"}, &cobra.Group{ID: measureGroup, Title: "Measure:"})
	for _, o := range []operation{
		{op: load.Upload, sized: true, short: "Write files", long: "Upload writes files, each under a name of its own."},
		{op: load.Download, sized: true, short: "Read what upload wrote, and compare it", long: `Download reads the files that upload wrote and compares each with what was written, so
SIZE must be the same. A file that is not there, or is another, is a failure.`},
		{op: load.Exist, short: "Ask whether files are there", long: "Exist asks for files that upload wrote. One that is not there is a failure."},
		{op: load.Delete, short: "Take away what upload wrote", long: "Delete takes away files that upload wrote. One that is not there is a failure."},
		{op: load.Clean, short: "Take away all files below load/", long: `Clean takes away all files whose names begin with load/, however many there are, and
no others. REQUESTS counts for nothing.`},
		{op: load.Bench, short: "Have 38 bytes sent back", long: "Bench has the server send back 38 bytes, and compares them: the protocol alone."},
	} {
		sub := p.loadOp(o)
		sub.GroupID = operationsGroup
		c.AddCommand(sub)
	}
	engines := p.loadEngines()
	engines.GroupID = measureGroup
	c.AddCommand(engines)
	return c
}

// operation is a command for one of them.
type operation struct {
	op          load.Op
	sized       bool
	short, long string
}

const sizeDefault = 50 << 10

// args is how its arguments are written.
func (o operation) args() string {
	switch {
	case o.op == load.Clean:
		return "[CONCURRENCY [REQUESTS]]"
	case o.sized:
		return "CONCURRENCY REQUESTS [SIZE]"
	}
	return "CONCURRENCY REQUESTS"
}

func (p *program) loadOp(op operation) *cobra.Command {
	var l loadFlags
	o := load.Options{Op: op.op}
	example := "  muster load " + string(op.op) + " 500 200000"
	if op.op == load.Clean {
		example = "  muster load clean"
	}
	c := &cobra.Command{
		Use:     string(op.op) + " " + op.args() + " [flags]",
		Short:   op.short,
		Long:    op.long,
		Example: example + "\n" + example + " --addr 10.0.0.7:9999 --format json --html load.html",
		Args:    cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if err := op.parse(args, &o); err != nil {
				return err
			}
			if _, err := applyConfigJSON(c.Flags(), l.config, p.serve().Flags()); err != nil {
				return err
			}
			o.URL = serverURL(l.addr)
			return p.put(c.Context(), &l, o)
		},
	}
	c.DisableFlagsInUseLine = true
	l.add(c.Flags(), &o)
	l.addServer(c.Flags(), &o)
	return c
}

// connectionsOfClean is how many there are where none are named.
const connectionsOfClean = 16

// parse takes CONCURRENCY, REQUESTS and SIZE.
func (o operation) parse(args []string, to *load.Options) error {
	least, most := 2, 3
	if o.op == load.Clean {
		least, to.Connections = 0, connectionsOfClean
	}
	if len(args) < least || len(args) > most {
		return usagef("%s takes %s, not %q", o.op, o.args(), strings.Join(args, " "))
	}
	return parseLoad(args, to)
}

// parseLoad takes what there is of CONCURRENCY, REQUESTS and SIZE.
func parseLoad(args []string, to *load.Options) error {
	to.Size = sizeDefault
	for i, arg := range args {
		var err error
		switch i {
		case 0:
			to.Connections, err = count("CONCURRENCY", arg)
		case 1:
			to.Requests, err = count("REQUESTS", arg)
		case 2:
			err = (&size{&to.Size, 0}).Set(arg)
		}
		if err != nil {
			return &usageError{err}
		}
	}
	return nil
}

func count(name, text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%s: %q is not a number of them: such are 1, 500, 200000", name, text)
	}
	return n, nil
}

// serverURL is where the server is, which may be named without http://, and as serve names
// all addresses of this machine.
func serverURL(addr string) string {
	switch {
	case strings.Contains(addr, "://"):
		return addr
	case strings.HasPrefix(addr, ":"):
		return "http://127.0.0.1" + addr
	}
	return "http://" + addr
}

// loadFlags are common to all loads.
type loadFlags struct {
	addr, html string
	config     string
	format     format
	quiet      bool
}

func (l *loadFlags) add(f *pflag.FlagSet, o *load.Options) {
	o.Protocol, l.format = load.HTTP, format(regress.Text)
	f.Var((*protocol)(&o.Protocol), "protocol", "send requests by `PROTOCOL`: "+protocols())
	f.Var(&size{&o.PageSize, 0}, "page-size", "put `SIZE` of a file into a message of protobuf or JSON: up to 1M (default 64K)")
	f.Float64Var(&o.Rate, "rate", 0, "make `R` requests due each second in all, and count latencies from then (default: one after another)")
	f.DurationVar(&o.Timeout, "timeout", time.Minute, "give up a request after `TIME`")
	f.Var(&l.format, "format", "print results as `FORMAT`: text or json")
	f.StringVar(&l.html, "html", "", "write tables and the course of the load to `FILE`, one page that needs no other")
	f.BoolVarP(&l.quiet, "quiet", "q", false, "show no progress")
}

// addServer offers what says which server it is.
func (l *loadFlags) addServer(f *pflag.FlagSet, o *load.Options) {
	f.StringVar(&l.addr, "addr", addrDefault, "ask the server at `HOST:PORT` or a URL; MUSTER_TOKEN holds the token that it wants")
	f.StringVar(&l.config, "config", "", "read settings from `FILE`, as JSON: that of muster serve has what both need")
	f.StringVar(&o.Threads.Admin, "admin", "", "count the OS threads of the server at `URL`, which it tells as \"admin on\"")
	f.IntVar(&o.Threads.PID, "pid", 0, "count the OS threads of the server with this `PID`, on this machine, and of all it started (Linux)")
}

// protocol is a flag's.
type protocol load.Protocol

func (p *protocol) Set(text string) error {
	for _, known := range load.Protocols() {
		if text == string(known) {
			*p = protocol(known)
			return nil
		}
	}
	return fmt.Errorf("%q is not a protocol: %s", text, protocols())
}

func (p *protocol) Type() string   { return "PROTOCOL" }
func (p *protocol) String() string { return string(*p) }

func protocols() string {
	var list []string
	for _, known := range load.Protocols() {
		list = append(list, string(known))
	}
	return strings.Join(list, ", ")
}

// put puts a server under load and shows what came of it.
func (p *program) put(ctx context.Context, l *loadFlags, o load.Options) error {
	if err := checkFiles(map[string]string{"--html": l.html}); err != nil {
		return err
	}
	if o.Threads.Admin != "" {
		o.Threads.Admin = serverURL(o.Threads.Admin)
	}
	if err := mayTell(o.URL); err != nil {
		return err
	}
	end := p.prepare(l, &o)
	result, err := load.Run(ctx, o)
	end()
	if result == nil {
		return loadError(err)
	}
	if shown := p.showLoad(l, result); shown != nil || err != nil {
		return errors.Join(loadError(err), shown)
	}
	if result.Failed > 0 {
		return statusError(1)
	}
	return nil
}

// mayTell refuses to show the token to a network.
func mayTell(address string) error {
	at, err := url.Parse(address)
	if err != nil {
		return usagef("--addr: %w", err)
	}
	options := access()
	if err := options.MayTell(at); err != nil {
		return usagef("--addr: %w: use https, or set MUSTER_TOKEN_PLAIN=1 on a network that is trusted", err)
	}
	return nil
}

// prepare gives a load its token and a line that shows how far it is, which end takes
// away.
func (p *program) prepare(l *loadFlags, o *load.Options) (end func()) {
	o.Token = access().Token
	line := newStatusLine(p.stderr, l.quiet)
	o.Progress = func(now load.Progress) { line.show(loadLine(now)) }
	return line.end
}

// loadError is the error of a load as the program ends with it.
func loadError(err error) error {
	var mistake *load.InputError
	if errors.As(err, &mistake) {
		return &usageError{err}
	}
	return err
}

// loadReport is what came of one load, or of several.
type loadReport interface {
	Text(io.Writer) error
	JSON(io.Writer) error
	HTML(io.Writer) error
}

// showLoad shows it in every way that is asked for, for one may fail.
func (p *program) showLoad(l *loadFlags, r loadReport) error {
	var page error
	if l.html != "" {
		page = writePage(l.html, r.HTML)
	}
	if l.format == format(regress.JSON) {
		return errors.Join(page, r.JSON(p.stdout))
	}
	return errors.Join(page, r.Text(p.stdout))
}

// loadQuiet is how long a load may take before its progress is shown.
const loadQuiet = 2 * time.Second

// loadLine tells how far a load is.
func loadLine(p load.Progress) string {
	if p.Elapsed < loadQuiet {
		return ""
	}
	var b strings.Builder
	if p.What != "" {
		b.WriteString(p.What + ", ")
	}
	fmt.Fprintf(&b, "%d", p.Done)
	if p.Total > 0 {
		fmt.Fprintf(&b, " of %d (%d %%)", p.Total, 100*p.Done/p.Total)
	}
	if p.Failed > 0 {
		fmt.Fprintf(&b, ", %d failed", p.Failed)
	}
	if p.Left >= 0 {
		fmt.Fprintf(&b, ", %v left", p.Left.Round(time.Second))
	}
	return b.String()
}
