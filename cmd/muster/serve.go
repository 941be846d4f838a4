package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"muster/fileio"
	"muster/files"
	"muster/files/service"
	"muster/files/service/logfile"
)

// serving is what the flags of serve say.
type serving struct {
	config, data string
	store        fileio.Options
	sync         string
	engine       serveEngine
	files        files.Options
	page         int64
	tokenFile    string
	service      service.Options
	openMax      int
	openKey      string // of the config file, under which openMax stands there; "" = it does not
	log          logfile.Options
	verbose      bool
}

func (p *program) serve() *cobra.Command {
	s := newServing()
	c := &cobra.Command{
		Use:   "serve [flags]",
		Short: "Keep goldens, corpora and build caches for a team, on few threads",
		Long: `Serve keeps whole files under names: GET, HEAD, PUT and DELETE of /files/NAME, and a list
at /files/. What has to wait for the disk waits on --io-threads threads, however many
clients there are and however slow it is; what cannot wait any longer is answered with
503. A file that was acknowledged is on the disk, unless --sync says otherwise.

Settings come from flags, and else from --config FILE, which has the flags' names, or
those of the articles: Port, UserProtoMsg, PageSize, MaxOpenFiles, LogCountPerFile,
DataDir, UserPoolIoSched, IoThreads, PriorIoThreads, SetCpuAffinity, WaitingQueueLen.
All settings are printed at the start, as such a file. An end that is asked for by INT or
TERM lets requests end first.

By default only this machine may use it. With MUSTER_TOKEN or --token-file others may, too,
and each request must bring "Authorization: Bearer TOKEN". Over TLS and from this machine
the token also counts as the password of basic authentication, with any user. Under load,
memory and threads are divided among tokens, and within each among client addresses.`,
		Example: `  muster serve --data /srv/files
  MUSTER_TOKEN=secret muster serve --addr 0.0.0.0:9999 --tls-cert c.pem --tls-key k.pem
  muster serve --config config.json --io cthreads --admin 127.0.0.1:9998
  curl -T main.golden http://127.0.0.1:9999/files/team/main.golden`,
		Args: noneWanted,
		RunE: func(c *cobra.Command, _ []string) error {
			from, err := applyConfigJSON(c.Flags(), s.config, p.loadOp(operation{}).Flags())
			if err != nil {
				return err
			}
			s.openKey = from["open-files"]
			return p.runService(c.Context(), s, c.Flags())
		},
	}
	s.flags(c.Flags())
	return c
}

// addrDefault is where a server listens, and where a load looks for one.
const addrDefault = "127.0.0.1:9999"

// newServing returns the defaults of flags that are sizes: such a flag shows the value it finds.
func newServing() *serving {
	return &serving{store: fileio.Options{MemoryMax: 128 << 20}, files: files.Options{BodyMax: 16 << 30, RateMin: 1 << 10}}
}

func (s *serving) flags(f *pflag.FlagSet) {
	f.StringVar(&s.config, "config", "", "read settings from `FILE`, as JSON")
	f.StringVar(&s.service.Addr, "addr", addrDefault, "listen at `HOST:PORT`; port 0 takes one that is free")
	f.StringVar(&s.data, "data", "muster-data", "keep the files in `DIR`, and nothing else there")
	s.engine.flags(f)
	f.StringVar(&s.sync, "sync", "group", "flush files to the disk `WHEN`: group (many at once), fdatasync (each), none")
	f.IntVar(&s.store.WaitingMax, "queue-max", 4096, "let `N` file operations wait for a thread, and as many about names alone; refuse more with 503")
	f.DurationVar(&s.store.WaitMax, "wait-max", 30*time.Second, "refuse with 503 an operation that has waited this `TIME` for a thread or for memory")
	f.Var(&size{&s.store.MemoryMax, 0}, "memory", "hold `SIZE` of files in memory at a time, half for uploads and half for downloads; further ones wait unread")
	f.Var(&size{&s.files.BodyMax, 0}, "body-max", "refuse files of more than `SIZE`")
	f.Var(&size{&s.page, 0}, "page-size", "put `SIZE` of a file into a message, and, where it is given, take as much from any client at a time: up to 1M (default 64K)")
	f.IntVar(&s.service.ConnectionsMax, "connections-max", 16_384, "serve `N` connections at a time; more wait")
	f.DurationVar(&s.service.Idle, "idle", 2*time.Minute, "close a connection that has no request for this `TIME`")
	f.Var(&size{&s.files.RateMin, 0}, "rate-min", "cut off a client that sends or takes fewer than `SIZE` a second: a sender that is 5s behind, a reader that is 60s behind")
	f.IntVar(&s.openMax, "open-files", 0, "open `N` files and connections at most (default: what the system allows)")
	f.StringVar(&s.tokenFile, "token-file", "", "want one of the tokens in `FILE` from each request: one a line, and comments after '#' (default: the variable MUSTER_TOKEN)")
	f.BoolVar(&s.service.Anybody, "without-token", false, "let everybody who reaches --addr read, replace and delete all files")
	f.StringVar(&s.service.Certificate, "tls-cert", "", "read the certificate from `FILE`, in PEM")
	f.StringVar(&s.service.Key, "tls-key", "", "read its key from `FILE`, in PEM")
	f.StringVar(&s.service.Admin, "admin", "", "show /metrics, /healthz and /debug/pprof at `HOST:PORT` of this machine")
	f.StringVar(&s.log.File, "log", "", "log to `FILE` (default: standard error)")
	f.IntVar(&s.log.LinesMax, "log-lines", 0, fmt.Sprintf("put the log aside after `N` lines, and keep %d such files (default never)", logfile.Kept))
	f.BoolVarP(&s.verbose, "verbose", "v", false, "log every request")
}

// runService puts the parts together, and takes them apart in the other order.
func (p *program) runService(ctx context.Context, s *serving, f *pflag.FlagSet) (err error) {
	if err := s.check(); err != nil {
		return err
	}
	log, err := s.openLog(p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	if err := s.limitOpenFiles(log.Logger); err != nil {
		return err
	}
	if err := printSettings(p.stdout, f); err != nil {
		return err
	}
	engine, err := s.engine.open(log.Logger, p.stderr)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, engine.Close()) }()
	store, err := s.openStore(engine)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()

	meter := service.NewMeter(log.Logger)
	storeGauges(meter, store)
	s.files.Log, s.service.Log, s.files.WaitMax = log.Logger, log.Logger, s.store.WaitMax
	s.files.More, s.service.RateMin = service.More, s.files.RateMin
	s.service.AdminHandler = service.NewAdmin(meter, store.Check)
	s.service.Ready = func(addr, admin net.Addr) { p.ready(s, addr, admin) }
	return service.Run(ctx, meter.Handler(files.NewServer(store, s.files)), s.service)
}

func (s *serving) check() error {
	var err error
	if s.store.Sync, err = syncNamed(s.sync); err != nil {
		return err
	}
	if s.store.MemoryMax < fileio.MemoryMin {
		return usagef("--memory: %d bytes are the least", fileio.MemoryMin)
	}
	if s.page > files.PageSizeMax {
		return usagef("--page-size: %d bytes are the most", files.PageSizeMax)
	}
	s.files.PageSize = int(s.page)
	if (s.service.Certificate == "") != (s.service.Key == "") {
		return usagef("--tls-cert and --tls-key belong together: give both, or none")
	}
	if err := s.checkNumbers(); err != nil {
		return err
	}
	if err := s.engine.check(); err != nil {
		return err
	}
	if s.files.Tokens, err = readTokens(s.tokenFile); err != nil {
		return err
	}
	s.service.Authorized = len(s.files.Tokens) > 0
	err = s.service.Check()
	if errors.Is(err, service.ErrOpen) {
		return usagef("%w: give it one (MUSTER_TOKEN or --token-file), or say --without-token", err)
	}
	if err != nil {
		return usagef("%w", err)
	}
	return nil
}

// syncNamed is what --sync means.
func syncNamed(name string) (fileio.Sync, error) {
	kind, ok := map[string]fileio.Sync{"group": fileio.SyncGroup, "fdatasync": fileio.SyncEach, "none": fileio.SyncNone}[name]
	if !ok {
		return kind, usagef("--sync %q: group, fdatasync and none are possible", name)
	}
	return kind, nil
}

// limitOpenFiles keeps connections from taking the places of the files that they ask for.
func (s *serving) limitOpenFiles(log *slog.Logger) error {
	most, err := service.LimitOpenFiles(s.openMax)
	// The articles' file was written for another machine, and must work here, too.
	if tooMany := (*service.TooManyOpenFiles)(nil); errors.As(err, &tooMany) && s.openKey == "MaxOpenFiles" {
		log.Warn("MaxOpenFiles is lowered to what this system allows (ulimit -Hn)", "config", s.config, "MaxOpenFiles", s.openMax, "allowed", tooMany.Most)
		s.openMax = tooMany.Most
		most, err = service.LimitOpenFiles(s.openMax)
	}
	if err != nil {
		return usagef("--open-files %d: %w", s.openMax, err)
	}
	if most < 2*ownFiles {
		return usagef("--open-files: %d are allowed, and muster needs %d: raise the limit (ulimit -n)", most, 2*ownFiles)
	}
	s.service.ConnectionsMax = min(s.service.ConnectionsMax, (most-ownFiles)/4*3)
	return nil
}

// ownFiles is how many files are open without a client: the folders of the store, the
// runtime's, and some more.
const ownFiles = 128

// queueMost is the largest --queue-max: far more than the connections of any server.
const queueMost = 1 << 20

func (s *serving) checkNumbers() error {
	switch {
	case s.service.ConnectionsMax < 1:
		return usagef("--connections-max %d: 1 or more are possible", s.service.ConnectionsMax)
	case s.log.LinesMax < 0:
		return usagef("--log-lines %d: 1 or more are possible, or 0 for one log without an end", s.log.LinesMax)
	case s.openMax < 0:
		return usagef("--open-files %d: 1 or more are possible, or 0 for what the system allows", s.openMax)
	case s.service.Idle <= 0:
		return usagef("--idle %v: a time above 0 is possible, as 30s", s.service.Idle)
	case s.files.RateMin < 1 || s.files.RateMin > files.RateMost:
		return usagef("--rate-min %d: from 1 to %d bytes a second are possible", s.files.RateMin, files.RateMost)
	case s.store.WaitingMax < 1 || s.store.WaitingMax > queueMost:
		return usagef("--queue-max %d: from 1 to %d are possible", s.store.WaitingMax, queueMost)
	case s.store.WaitMax <= 0:
		return usagef("--wait-max %v: a time above 0 is possible, as 30s", s.store.WaitMax)
	}
	return nil
}

func (s *serving) openLog(p *program) (*logfile.Log, error) {
	s.log.Writer = p.stderr
	if s.verbose {
		s.log.Level = slog.LevelDebug // at which requests are logged
	}
	log, err := logfile.Open(s.log)
	if err != nil {
		return nil, usagef("--log: %w", err)
	}
	return log, nil
}

// openStore tells what the folder is not from what the system did not allow.
func (s *serving) openStore(engine fileio.Engine) (*fileio.Store, error) {
	store, err := fileio.Open(s.data, engine, s.store)
	var errno syscall.Errno
	switch {
	case err == nil:
		return store, nil
	case errors.As(err, &errno):
		return nil, fmt.Errorf("--data: %w", err)
	}
	return nil, usagef("--data: %w", err)
}

// ready says where the service is, which scripts wait for.
func (p *program) ready(s *serving, addr, admin net.Addr) {
	scheme := "http"
	if s.service.Certificate != "" {
		scheme = "https"
	}
	if admin != nil {
		fmt.Fprintf(p.stderr, "admin on http://%s\n", admin)
	}
	fmt.Fprintf(p.stderr, "listening on %s://%s\n", scheme, addr)
}

func storeGauges(m *service.Meter, store *fileio.Store) {
	for name, of := range map[string]func(fileio.Stats) float64{
		"muster_io_threads":               func(s fileio.Stats) float64 { return float64(s.Threads) },
		"muster_io_jobs_waiting":          func(s fileio.Stats) float64 { return float64(s.Waiting) },
		"muster_io_jobs_running":          func(s fileio.Stats) float64 { return float64(s.Running) },
		"muster_io_jobs_total":            func(s fileio.Stats) float64 { return float64(s.Done) },
		"muster_io_jobs_refused_total":    func(s fileio.Stats) float64 { return float64(s.Refused) },
		"muster_io_wait_seconds_total":    func(s fileio.Stats) float64 { return s.Wait.Seconds() },
		"muster_io_memory_bytes":          func(s fileio.Stats) float64 { return float64(s.Memory) },
		"muster_io_service_seconds_total": func(s fileio.Stats) float64 { return s.Service.Seconds() },
	} {
		m.Gauge(name, func() float64 { return of(store.Stats()) })
	}
}
