package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"muster/files"
	"muster/files/gocache"
	"muster/files/load"
	"muster/internal/readable"
	"muster/internal/terminal"
	"muster/internal/wording"
	"muster/regress"
)

func (p *program) load() *cobra.Command {
	c := &cobra.Command{
		Use:   "load",
		Short: "Put a file service under load and measure it",
		Long: `Load sends a file service many requests at the same time. CONCURRENCY connections make
REQUESTS requests in total. Request i concerns file i, which has SIZE bytes, 50K by default.
Load generates and compares the contents in memory. The names of all its files begin with
load/. Operations that write and read no files ignore SIZE.

With --duration TIME the connections make these requests again and again until TIME has
passed. REQUESTS is then the number of different files.

It exits with 0 if all requests succeeded, 1 if some failed, 3 if the server cannot be
reached, and 130 after an interrupt.`,
		Example: `  muster load upload 500 200000 50K               500 connections, 200,000 files of 50 KiB
  muster load download 500 200000 50K             read and compare them
  muster load download 50 1 50K --duration 30s    read one file again and again
  muster load clean                               delete all files of loads`,
		Args: unknownSubcommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	var operations []*cobra.Command
	for _, o := range []operation{
		{op: load.Upload, sized: true, short: "Write files", long: "Upload writes files, each under its own name."},
		{op: load.Download, sized: true, short: "Read the files of upload and compare them", long: `Download reads the files that upload wrote and compares their contents. SIZE must be the
same as for upload. A missing or different file is a failure.`},
		{op: load.Exist, short: "Check that files exist", long: "Exist checks that the files of upload exist. A missing file is a failure."},
		{op: load.Delete, short: "Delete the files of upload", long: "Delete deletes files that upload wrote. A missing file is a failure."},
		{op: load.Clean, short: "Delete all files below load/", long: `Clean deletes all files whose names begin with load/, and no others, with one
request. It ignores CONCURRENCY and REQUESTS.`},
		{op: load.Bench, short: "Measure the protocol with an echo of 38 bytes", long: "Bench has the server echo 38 bytes and compares them. It measures the protocol without files."},
	} {
		operations = append(operations, p.loadOp(o))
	}
	addGroup(c, "Operations", operations...)
	addGroup(c, "Measure", p.loadEngines())
	return c
}

// operation describes the command of one operation.
type operation struct {
	op          load.Op
	sized       bool
	short, long string
}

const sizeDefault = 50 << 10

// args returns the usage of the arguments.
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
			if err := applyConfigJSON(c.Flags(), l.config, p.serve().Flags()); err != nil {
				return err
			}
			if c.Flags().Changed("duration") && o.Duration == 0 {
				return usagef("a duration of 0s: use a time above 0, such as 30s")
			}
			if err := op.parse(args, &o); err != nil {
				return err
			}
			o.URL = serverURL(l.addr)
			return p.runLoad(c.Context(), &l, o)
		},
	}
	c.DisableFlagsInUseLine = true
	l.add(c.Flags(), &o)
	l.addServer(c.Flags(), &o)
	return c
}

// filesOfDuration is the default number of files for a load with a duration.
const filesOfDuration = 1000

// parse parses CONCURRENCY, REQUESTS and SIZE.
func (o operation) parse(args []string, to *load.Options) error {
	least, most := 2, 3
	switch {
	case o.op == load.Clean:
		least, to.Connections = 0, 1
	case to.Duration > 0:
		least, to.Requests = 1, filesOfDuration
	}
	if len(args) < least || len(args) > most {
		return usagef("%s takes %s, not %q", o.op, o.args(), strings.Join(args, " "))
	}
	return parseLoad(args, to)
}

// parseLoad parses those of CONCURRENCY, REQUESTS and SIZE that are given.
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
		return 0, fmt.Errorf("%s: %q is not a positive number: write 1, 500 or 200000, for example", name, text)
	}
	return n, nil
}

// serverURL returns the server's URL. An address may omit http:// and the host, as in the
// addresses of serve.
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
	format     regress.Format
	quiet      bool
}

func (l *loadFlags) add(f *pflag.FlagSet, o *load.Options) {
	f.Var(newChoice(&o.Protocol, "PROTOCOL", "a protocol: "+protocols(), load.Protocols()...), "protocol", "send requests by `PROTOCOL`: "+protocols())
	f.Var(&size{&o.PageSize, 0}, "page-size", "put `SIZE` of a file into a message of protobuf or JSON: up to 1M (default 64K)")
	f.Float64Var(&o.Rate, "rate", 0, "make `R` requests due per second in total, and measure latencies from the due time (default: each request follows an answer)")
	f.DurationVar(&o.Timeout, "timeout", time.Minute, "abort a request after `TIME`")
	f.Var(newFormat(&l.format), "format", "print results as `FORMAT`: text or json")
	f.StringVar(&l.html, "html", "", "write tables and charts to `FILE`, as one self-contained page")
	f.BoolVarP(&l.quiet, "quiet", "q", false, "show no progress")
}

// addServer adds the flags that select the server.
func (l *loadFlags) addServer(f *pflag.FlagSet, o *load.Options) {
	f.StringVar(&l.addr, "addr", addrDefault, "use the server at `HOST:PORT` or at a URL; MUSTER_TOKEN is its token")
	if o.Op != load.Delete && o.Op != load.Clean { // each file can be deleted only once
		f.DurationVar(&o.Duration, "duration", 0, fmt.Sprintf("repeat the requests for `TIME`; REQUESTS is then the number of files, and may be left out (%s)", readable.Number(filesOfDuration)))
	}
	f.StringVar(&l.config, "config", "", "read settings from `FILE`, as JSON; load and serve can share the file")
	f.StringVar(&o.Threads.Admin, "admin", "", "count the server's OS threads through its operator's page at `URL`, which it prints after \"admin on\"")
	f.IntVar(&o.Threads.PID, "pid", 0, "count the OS threads of the local server `PID` and of its child processes (Linux)")
}

func protocols() string {
	var list []string
	for _, known := range load.Protocols() {
		list = append(list, string(known))
	}
	return strings.Join(list, ", ")
}

// runLoad puts a server under load and shows the result.
func (p *program) runLoad(ctx context.Context, l *loadFlags, o load.Options) error {
	if err := checkFiles(map[string]string{"--html": l.html}); err != nil {
		return err
	}
	if o.Threads.Admin != "" {
		o.Threads.Admin = serverURL(o.Threads.Admin)
	}
	if err := checkToken(o.URL); err != nil {
		return err
	}
	end := p.prepare(l, &o)
	result, err := load.Run(ctx, o)
	end()
	if _, gone := errors.AsType[*load.UnreachableError](err); gone && !wording.RefusedTLS(err) {
		err = fmt.Errorf("%w: start it, or name another with --addr", err)
	}
	if result == nil {
		return loadError(err)
	}
	if shown := p.showReport(l.html, l.format, result); shown != nil || err != nil {
		return errors.Join(loadError(err), shown)
	}
	if result.Failed > 0 {
		return statusError(1)
	}
	return nil
}

// checkToken returns an error if the token would cross a network unencrypted.
func checkToken(address string) error {
	at, err := url.Parse(address)
	if err != nil {
		return usagef("--addr: %w", err)
	}
	options := access()
	if err := options.CheckToken(at); err != nil {
		return usagef("--addr: %w: use https, or set MUSTER_TOKEN_PLAIN=1 on a network that is trusted", err)
	}
	return nil
}

// prepare gives a load its token and a progress line, which end removes.
func (p *program) prepare(l *loadFlags, o *load.Options) (end func()) {
	o.Token = access().Token
	line := newStatusLine(p.stderr, l.quiet)
	o.Progress = func(now load.Progress) { line.show(loadLine(now)) }
	return line.end
}

func loadError(err error) error {
	if _, mistake := errors.AsType[*load.InputError](err); mistake {
		return &usageError{err}
	}
	return err
}

// loadQuiet is the time before a load shows its progress.
const loadQuiet = time.Second

// loadLine returns the progress of a load as text: how far it is, then what the last interval
// measured.
func loadLine(p load.Progress) string {
	if p.Elapsed < loadQuiet {
		return ""
	}
	var parts []string
	if p.What != "" {
		parts = append(parts, p.What)
	}
	switch {
	case p.Duration > 0:
		parts = append(parts, fmt.Sprintf("%s (%d %%)", readable.Number(p.Done), min(100*p.Elapsed/p.Duration, 100)))
	case p.Total > 0:
		parts = append(parts, fmt.Sprintf("%s of %s (%d %%)", readable.Number(p.Done), readable.Number(p.Total), 100*p.Done/p.Total))
	default:
		parts = append(parts, readable.Number(p.Done))
	}
	if p.Left >= 0 {
		parts = append(parts, readable.Duration(p.Left)+" left")
	}
	if p.Failed > 0 {
		parts = append(parts, fmt.Sprintf("%s failed (+%s)", readable.Number(p.Failed), readable.Number(p.Last.Failed)))
	}
	parts = append(parts, readable.Rate(p.Last.PerSecond()))
	if l := p.Last.Latency; l.Max > 0 {
		parts = append(parts, "p50 "+load.Milliseconds(l.P50), "p99 "+load.Milliseconds(l.P99))
	}
	return strings.Join(parts, ", ")
}

func goCache(p *program) *cobra.Command {
	o := gocache.Options{LocalMax: gocache.LocalMaxDefault}
	verbose := false
	c := &cobra.Command{
		Use:   "gocache --url URL [flags]",
		Short: "Share Go's build cache through a file service",
		Long: `Gocache is a build cache for the go command, which starts it and talks to it on its standard
input and output. Set the variable GOCACHEPROG, and every go build, go test and go vet uses it.

Files lie in a local folder, and behind it at a server that all machines share. One machine
builds or tests a package, and the others take the result. The content of each file is checked
by its SHA-256. If the server is unreachable, slow or wrong, gocache prints one warning, and
the build goes on with the local folder.

The variable MUSTER_TOKEN has the server's token. Other machines get it only over https,
unless MUSTER_TOKEN_PLAIN=1.`,
		Example: `  export GOCACHEPROG='muster gocache --url https://files.example:9999'
  go build ./...
  GOCACHEPROG='muster gocache --url http://127.0.0.1:9999/files/gocache/main -v' go test ./...`,
		Args: noneWanted,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := checkGoCache(p, &o); err != nil {
				return err
			}
			stats, err := gocache.Run(c.Context(), o, p.stdin, p.stdout)
			if verbose {
				fmt.Fprintf(p.stderr, "muster gocache: %d hits here, %d at the server, %d misses; %d files sent, %d not sent\n",
					stats.Local, stats.Remote, stats.Misses, stats.Sent, stats.Unsent)
			}
			if errors.Is(err, gocache.ErrProtocol) {
				return usagef("%w: let the go command start gocache, with GOCACHEPROG", err)
			}
			return err
		},
	}
	f := c.Flags()
	f.StringVar(&o.URL, "url", "", "share through the server at `URL`: http://HOST:PORT, with a folder below /files/ to use another one than gocache")
	f.StringVar(&o.Dir, "dir", "", "keep local files in `DIR` (default: muster/gocache in the user's cache folder)")
	f.Var(&size{&o.LocalMax, 0}, "local-max", "after a build, remove the least recently used local files until at most `SIZE` is left")
	f.DurationVar(&o.Timeout, "timeout", gocache.TimeoutDefault, "wait `TIME` for an answer of the server, and as long after a build for files that are being sent")
	f.BoolVarP(&verbose, "verbose", "v", false, "print after a build the numbers of hits, misses and sent files")
	return c
}

func checkGoCache(p *program, o *gocache.Options) error {
	const path = "/files/gocache"
	if f, ok := p.stdin.(*os.File); ok && terminal.Is(f) {
		return usagef("gocache talks to the go command, not to you: export GOCACHEPROG='muster gocache --url URL', then run go build")
	}
	if o.Timeout <= 0 {
		return usagef("--timeout %v: use a time above 0, such as 10s", o.Timeout)
	}
	at, err := url.Parse(o.URL)
	if err != nil { // it may have a password anywhere
		return usagef("--url is not the address of a server: write http://HOST:PORT")
	}
	if at.User != nil {
		return usagef("--url %s: warnings show this address: leave the password out, and set MUSTER_TOKEN", at.Redacted())
	}
	if files.CheckAddress(at) != nil || strings.ContainsAny(o.URL, "?#") {
		return usagef("--url %q is not the address of a server: write http://HOST:PORT", o.URL)
	}
	if strings.Trim(at.Path, "/") == "" {
		at.Path = path
	}
	if !strings.HasPrefix(at.Path, "/files/") {
		return usagef("--url %q: files are below /files/: write http://HOST:PORT%s", o.URL, path)
	}
	client := access()
	if err := client.CheckToken(at); err != nil {
		return usagef("--url: %w: use https, or set MUSTER_TOKEN_PLAIN=1 on a network that you trust", err)
	}
	o.URL, o.Client = at.String(), files.NewClient(client)
	o.Warn = func(err error) { fmt.Fprintf(p.stderr, "muster gocache: %s\n", errorText(err)) }
	if o.Dir == "" {
		caches, err := os.UserCacheDir()
		if err != nil {
			return usagef("no folder for local files: %w: give --dir DIR", err)
		}
		o.Dir = filepath.Join(caches, "muster", "gocache")
	}
	return nil
}
