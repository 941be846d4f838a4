package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"muster/fileio"
	"muster/files"
	"muster/files/bucket"
	"muster/files/cached"
	"muster/files/service"
	"muster/files/service/logfile"
	"muster/internal/readable"
	"muster/internal/terminal"
)

// serveFlags holds the flags of serve.
type serveFlags struct {
	config, data string
	bucket       bucket.Options // used if data is the address of a bucket
	cache        string
	cacheMax     int64
	store        fileio.Options
	sync         string
	engine       serveEngine
	files        files.Options
	page         int64
	tokenFile    string
	readerFile   string // tokens that only read
	service      service.Options
	openMax      int
	log          logfile.Options
	logFormat    logFormat
	verbose      bool
}

func (p *program) serve() *cobra.Command {
	s := newServeFlags()
	c := &cobra.Command{
		Use:   "serve [flags]",
		Short: "Keep goldens, corpora and build caches for a team",
		Long: `Serve stores whole files under names. Clients use GET, HEAD, PUT and DELETE of
/files/NAME, and list the files at /files/. At most --io-threads threads wait for the disk,
however many clients connect and however slow the disk is. A request that has waited too
long gets 503. An acknowledged file is on the disk, unless you change --sync.

With --capacity SIZE the files take at most SIZE. A PUT that needs room evicts files of build
caches (--evict), the least recently used first. Other files are never evicted. If evictions
do not make enough room, the PUT gets 507.

With --data s3://BUCKET/PREFIX the files are in a bucket of an S3-compatible object store. Any
number of servers may serve one bucket. The credentials are those of AWS's tools: the variables
AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, ~/.aws/credentials, or the machine's role.

The same port is a remote cache for Bazel (--remote_cache=grpc://HOST:PORT) and for other
clients of the Remote Execution API. Their instance name is a prefix of file names.

Flags override the settings in --config FILE. The file's keys are the flags' names, or
those of the articles: Port, UserProtoMsg, PageSize, MaxOpenFiles, LogCountPerFile,
DataDir, UserPoolIoSched, IoThreads, PriorIoThreads, SetCpuAffinity, WaitingQueueLen.
Serve prints all settings on standard output at the start, in the same format, unless that is
a terminal.
After INT or TERM serve completes running requests before it exits.

By default only this machine has access. MUSTER_TOKEN or --token-file gives access to other
machines. Each request must then send "Authorization: Bearer TOKEN". Over TLS and from this
machine, the token is also accepted as the password of basic authentication, with any user.
Tokens of --read-token-file only read. Under load, tokens share memory and threads, and so do
the client addresses of each token.`,
		Example: `  muster serve --data /srv/files
  MUSTER_TOKEN=secret muster serve --addr 0.0.0.0:9999 --tls-cert c.pem --tls-key k.pem
  muster serve --data /srv/files --capacity 200G --evict ccache/ --evict branches/
  muster serve --data s3://team/muster --endpoint https://s3.example.com
  muster serve --config config.json --io cthreads --admin 127.0.0.1:9998
  curl -T main.golden http://127.0.0.1:9999/files/team/main.golden`,
		Args: noneWanted,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := applyConfigJSON(c.Flags(), s.config, p.loadOp(operation{}).Flags()); err != nil {
				return err
			}
			return p.runService(c.Context(), s, c.Flags())
		},
	}
	s.flags(c.Flags())
	return c
}

// addrDefault is the default address of servers and loads.
const addrDefault = "127.0.0.1:9999"

// newServeFlags returns flags with the default sizes, which they show as their values.
func newServeFlags() *serveFlags {
	return &serveFlags{
		store:   fileio.Options{MemoryMax: 128 << 20},
		files:   files.Options{BodyMax: 16 << 30, RateMin: 1 << 10},
		service: service.Options{ConnectionsMax: 16_384, Idle: 2 * time.Minute},
	}
}

func (s *serveFlags) flags(f *pflag.FlagSet) {
	f.StringVar(&s.config, "config", "", "read settings from `FILE`, as JSON")
	f.StringVar(&s.service.Addr, "addr", addrDefault, "listen at `HOST:PORT`; port 0 chooses a free port")
	f.StringVar(&s.data, "data", "", "store the files in `DIR`, which is created if necessary and must contain nothing else, or in a bucket: s3://BUCKET/PREFIX")
	f.StringVar(&s.bucket.Endpoint, "endpoint", "", "with s3://, use the object store at `URL`; requests are in virtual-host style if its host is the bucket's name and a domain (default: AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, or Amazon's)")
	f.StringVar(&s.cache, "cache", "", "with s3://, keep copies of files that were read in `DIR`, which must contain nothing else")
	f.Var(&size{&s.cacheMax, 0}, "cache-max", "keep up to `SIZE` of copies in --cache, at least 16M; evict the least recently used first")
	s.engine.flags(f)
	f.StringVar(&s.sync, "sync", "group", "flush files to the disk `WHEN`: group (many together), fdatasync (each separately) or none")
	f.IntVar(&s.store.WaitingMax, "queue-max", 4096, "let `N` file operations wait for a thread, and as many operations on names; refuse more with 503")
	f.DurationVar(&s.store.WaitMax, "wait-max", 30*time.Second, "refuse an operation with 503 after it has waited this `TIME` for a thread or for memory")
	f.Var(&size{&s.store.MemoryMax, 0}, "memory", "hold up to `SIZE` of files in memory, half for uploads and half for downloads; further requests wait")
	f.Var(&size{&s.files.BodyMax, 0}, "body-max", "refuse files larger than `SIZE`")
	f.Var(&size{&s.page, 0}, "page-size", "put `SIZE` of a file into a message, up to 1M (default 64K); if given, also read at most this much from a client at a time")
	f.Var(&size{&s.store.Capacity, 0}, "capacity", "store up to `SIZE` of files, each in whole blocks of 4 KiB; evict files of caches to make room, and answer 507 if that is not enough (default: no limit)")
	s.store.Evict = cachePrefixes()
	f.Var(&prefixes{list: &s.store.Evict}, "evict", "with --capacity, evict only files below `FOLDER`, such as ccache/, the least recently used first; repeatable, or with commas")
	f.Var(&size{&s.files.RateMin, 0}, "rate-min", "disconnect clients slower than `SIZE` per second: senders that are 5s behind, readers that are 60s behind")
	f.IntVar(&s.openMax, "open-files", 0, "open at most `N` files and connections (default: the system's limit)")
	f.StringVar(&s.tokenFile, "token-file", "", "accept only requests with a token from `FILE`: one per line, '#' begins a comment (default: the variable MUSTER_TOKEN)")
	f.StringVar(&s.readerFile, "read-token-file", "", "accept the tokens in `FILE` only for requests that change nothing")
	f.BoolVar(&s.service.Anybody, "without-token", false, "let everyone who can reach --addr read, replace and delete all files")
	f.StringVar(&s.service.Certificate, "tls-cert", "", "read the TLS certificate from `FILE`, in PEM")
	f.StringVar(&s.service.Key, "tls-key", "", "read the certificate's key from `FILE`, in PEM")
	f.StringVar(&s.service.Admin, "admin", "", "show /metrics, /healthz and /debug/pprof at `HOST:PORT` of this machine")
	f.Var(newChoice(&s.logFormat, "FORMAT", "a format of the log: auto, text or json (--log-file names a file)", logAuto, logText, logJSON), "log", "write log lines as `FORMAT`: text, json, or auto, which is text on a terminal and otherwise JSON")
	f.StringVar(&s.log.File, "log-file", "", "write the log to `FILE` (default: standard error)")
	f.IntVar(&s.log.LinesMax, "log-lines", 0, fmt.Sprintf("rename the log after `N` lines, and keep %d old files (default: never)", logfile.Kept))
	f.BoolVarP(&s.verbose, "verbose", "v", false, "log every request")
}

// runService opens the parts of the service and closes them in reverse order.
func (p *program) runService(ctx context.Context, s *serveFlags, f *pflag.FlagSet) (err error) {
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
	if !isTerminal(p.stdout) {
		if err := printSettings(p.stdout, f); err != nil {
			return err
		}
	}
	store, err := s.openStore(ctx, log.Logger, p.stderr)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()

	meter := service.NewMeter(log.Logger)
	storeGauges(meter, store, max(s.store.Capacity, s.cacheMax))
	s.files.Log, s.service.Log, s.files.WaitMax = log.Logger, log.Logger, s.store.WaitMax
	s.files.More, s.service.RateMin = service.More, s.files.RateMin
	s.service.AdminHandler = service.NewAdmin(meter, store.Check)
	s.service.Ready = func(addr, admin net.Addr) { p.ready(s, addr, admin) }
	return service.Run(ctx, meter.Handler(files.NewServer(store, s.files)), s.service)
}

func (s *serveFlags) check() error {
	var err error
	if s.store.Sync, err = parseSync(s.sync); err != nil {
		return err
	}
	if s.store.MemoryMax < fileio.MemoryMin {
		return usagef("--memory: use at least %s", readable.BinarySize(fileio.MemoryMin))
	}
	if s.page > files.PageSizeMax {
		return usagef("--page-size: use at most %s", readable.BinarySize(files.PageSizeMax))
	}
	s.files.PageSize = int(s.page)
	if (s.service.Certificate == "") != (s.service.Key == "") {
		return usagef("--tls-cert and --tls-key belong together: give both or neither")
	}
	if err := s.checkNumbers(); err != nil {
		return err
	}
	if err := s.engine.check(); err != nil {
		return err
	}
	if s.store.Capacity == 0 && !slices.Equal(s.store.Evict, cachePrefixes()) {
		return usagef("--evict without --capacity evicts nothing: give --capacity SIZE too")
	}
	if s.files.Tokens, s.files.ReadTokens, err = readTokens(s.tokenFile, s.readerFile); err != nil {
		return err
	}
	s.service.Authorized = len(s.files.Tokens) > 0
	err = s.service.Check()
	if errors.Is(err, service.ErrOpen) {
		return usagef("%w: set a token (MUSTER_TOKEN or --token-file), or give --without-token", err)
	}
	if err != nil {
		return usagef("%w", err)
	}
	if err := s.checkBucket(); err != nil {
		return err
	}
	if s.data == "" {
		return usagef("the folder for the files is missing: give --data DIR, or DataDir in the file of --config")
	}
	return nil
}

func parseSync(name string) (fileio.Sync, error) {
	kind, ok := map[string]fileio.Sync{"group": fileio.SyncGroup, "fdatasync": fileio.SyncEach, "none": fileio.SyncNone}[name]
	if !ok {
		return kind, usagef("--sync %q: group, fdatasync and none are possible", name)
	}
	return kind, nil
}

// limitOpenFiles limits the connections so that descriptors remain for their files.
func (s *serveFlags) limitOpenFiles(log *slog.Logger) error {
	most, err := service.LimitOpenFiles(s.openMax)
	if err != nil {
		return fmt.Errorf("--open-files %d: %w", s.openMax, err)
	}
	if s.openMax > most {
		log.Warn("open-files is lowered to what this system allows (ulimit -Hn)", "open-files", s.openMax, "allowed", most)
		s.openMax = most
	}
	if most < 2*ownFiles {
		return usagef("--open-files: the limit is %d, and muster needs %d: raise the limit (ulimit -n)", most, 2*ownFiles)
	}
	s.service.ConnectionsMax = min(s.service.ConnectionsMax, (most-ownFiles)/4*3)
	return nil
}

// ownFiles is the number of open files without clients: the store's folders, the runtime's
// files, and a reserve.
const ownFiles = 128

// queueMax is the largest --queue-max, far more than the connections of any server.
const queueMax = 1 << 20

func (s *serveFlags) checkNumbers() error {
	switch {
	case s.log.LinesMax < 0:
		return usagef("--log-lines %d: 1 or more are possible, or 0 for an unlimited log", s.log.LinesMax)
	case s.openMax < 0:
		return usagef("--open-files %d: 1 or more are possible, or 0 for the system's limit", s.openMax)
	case s.files.RateMin < 1 || s.files.RateMin > files.RateMax:
		return usagef("--rate-min %s: from 1 byte to %s a second are possible", readable.BinarySize(s.files.RateMin), readable.BinarySize(files.RateMax))
	case s.store.WaitingMax < 1 || s.store.WaitingMax > queueMax:
		return usagef("--queue-max %d: from 1 to %d are possible", s.store.WaitingMax, queueMax)
	case s.store.WaitMax <= 0:
		return usagef("--wait-max %v: use a time above 0, such as 30s", s.store.WaitMax)
	}
	return nil
}

func (s *serveFlags) openLog(p *program) (*logfile.Log, error) {
	s.log.Writer = p.stderr
	s.log.Text = s.logFormat == logText || s.logFormat == logAuto && s.log.File == "" && isTerminal(p.stderr)
	if s.verbose {
		s.log.Level = slog.LevelDebug // requests are logged at this level
	}
	log, err := logfile.Open(s.log)
	if err != nil {
		return nil, usagef("--log-file: %w", err)
	}
	return log, nil
}

// checkBucket checks the settings of a bucket, if --data is one.
func (s *serveFlags) checkBucket() error {
	name, prefix, ok, err := bucket.ParseAddress(s.data)
	switch {
	case err != nil:
		return usagef("--data %w", err)
	case !ok && strings.Contains(s.data, "://"):
		return usagef("--data: name a folder, or a bucket as s3://BUCKET/PREFIX")
	case !ok && s.bucket.Endpoint != "":
		return usagef("--endpoint is for files in a bucket: give --data s3://BUCKET/PREFIX too")
	case !ok && (s.cache != "" || s.cacheMax > 0):
		return usagef("--cache is for files in a bucket: the system itself has copies of a folder's files in memory")
	case !ok:
		return nil
	case s.store.Capacity > 0:
		return usagef("--capacity is for files in a folder: let the object store delete old files with a lifecycle rule")
	case (s.cache == "") != (s.cacheMax == 0):
		return usagef("--cache and --cache-max belong together: give both or neither")
	case s.cache != "" && s.cacheMax < cached.MaxLeast:
		return usagef("--cache-max: use at least %s", readable.BinarySize(cached.MaxLeast))
	}
	least := int64(bucket.MemoryMin)
	s.bucket.MemoryMax = s.store.MemoryMax
	if s.cache != "" {
		s.bucket.MemoryMax /= 2 // the copies have the other half
		least *= 2
	}
	if s.bucket.MemoryMax < bucket.MemoryMin {
		return usagef("--memory: use at least %s for files in a bucket", readable.BinarySize(least))
	}
	s.bucket.Bucket, s.bucket.Prefix = name, prefix
	s.bucket.WaitingMax, s.bucket.WaitMax = s.store.WaitingMax, s.store.WaitMax
	return nil
}

// openStore opens the folder with its engine, or the bucket.
func (s *serveFlags) openStore(ctx context.Context, log *slog.Logger, stderr io.Writer) (cached.Origin, error) {
	if s.bucket.Bucket == "" {
		return s.openFolder(log, stderr, "--data", s.data)
	}
	store, err := s.openBucket(ctx, log)
	if err != nil || s.cache == "" {
		return store, err
	}
	copies, err := s.openCopies(log, stderr)
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return cached.New(store, copies, cached.Options{Name: store.Address() + " " + s.data, Max: s.cacheMax, Log: log}), nil
}

// openCopies opens the folder of --cache. Nobody waits for its disk: package cached verifies the copies.
func (s *serveFlags) openCopies(log *slog.Logger, stderr io.Writer) (cached.Copies, error) {
	s.store.Capacity, s.store.Evict, s.store.Sync = s.cacheMax, []string{cached.Folder}, fileio.SyncNone
	s.store.MemoryMax -= s.bucket.MemoryMax
	return s.openFolder(log, stderr, "--cache", s.cache)
}

// folderStore is a store in a folder, with its engine.
type folderStore struct {
	*fileio.Store
	engine fileio.Engine
}

// Close closes both.
func (f folderStore) Close() error { return errors.Join(f.Store.Close(), f.engine.Close()) }

// openBucket distinguishes a wrong setting from an object store that does not answer.
func (s *serveFlags) openBucket(ctx context.Context, log *slog.Logger) (*bucket.Store, error) {
	store, err := bucket.Open(s.bucket)
	if err == nil {
		err = store.Probe(ctx)
	}
	switch {
	case err == nil:
	case errors.Is(err, fileio.ErrBusy) || ctx.Err() != nil:
		return nil, fmt.Errorf("--data %s: %w", s.data, err)
	default:
		return nil, usagef("--data %s: %w", s.data, err)
	}
	log.Info("an object store keeps the files", "address", store.Address(), "bucket", s.bucket.Bucket, "prefix", s.bucket.Prefix)
	return store, nil
}

// openFolder distinguishes an unsuitable folder from an operation that the system refused.
func (s *serveFlags) openFolder(log *slog.Logger, stderr io.Writer, flag, folder string) (cached.Copies, error) {
	engine, err := s.engine.open(log, stderr)
	if err != nil {
		return nil, err
	}
	store, err := fileio.Open(folder, engine, s.store)
	if err == nil {
		return folderStore{store, engine}, nil
	}
	err = errors.Join(err, engine.Close())
	var errno syscall.Errno
	switch {
	case flag == "--data" && errors.Is(err, syscall.ENOSPC) && !errors.As(err, &errno):
		return nil, usagef("--capacity: %w", err)
	case errors.As(err, &errno):
		return nil, fmt.Errorf("%s: %w", flag, err)
	}
	return nil, usagef("%s: %w", flag, err)
}

// logFormat is a value of --log.
type logFormat string

const (
	logAuto logFormat = "auto"
	logText logFormat = "text"
	logJSON logFormat = "json"
)

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && terminal.Is(f)
}

// ready prints the addresses of the service. Scripts wait for these lines.
func (p *program) ready(s *serveFlags, addr, admin net.Addr) {
	scheme := "http"
	if s.service.Certificate != "" {
		scheme = "https"
	}
	if admin != nil {
		fmt.Fprintf(p.stderr, "admin on http://%s\n", admin)
	}
	fmt.Fprintf(p.stderr, "listening on %s://%s\n", scheme, addr)
}

func storeGauges(m *service.Meter, store cached.Origin, capacity int64) {
	gauges := map[string]func(fileio.Stats) float64{
		"muster_io_threads":               func(s fileio.Stats) float64 { return float64(s.Threads) },
		"muster_io_jobs_waiting":          func(s fileio.Stats) float64 { return float64(s.Waiting) },
		"muster_io_jobs_running":          func(s fileio.Stats) float64 { return float64(s.Running) },
		"muster_io_jobs_total":            func(s fileio.Stats) float64 { return float64(s.Done) },
		"muster_io_jobs_refused_total":    func(s fileio.Stats) float64 { return float64(s.Refused) },
		"muster_io_wait_seconds_total":    func(s fileio.Stats) float64 { return s.Wait.Seconds() },
		"muster_io_memory_bytes":          func(s fileio.Stats) float64 { return float64(s.Memory) },
		"muster_io_service_seconds_total": func(s fileio.Stats) float64 { return s.Service.Seconds() },
	}
	if capacity > 0 {
		maps.Copy(gauges, map[string]func(fileio.Stats) float64{
			"muster_store_bytes":          func(s fileio.Stats) float64 { return float64(s.Kept) },
			"muster_store_capacity_bytes": func(fileio.Stats) float64 { return float64(capacity) },
			"muster_evicted_files_total":  func(s fileio.Stats) float64 { return float64(s.Evicted) },
			"muster_evicted_bytes_total":  func(s fileio.Stats) float64 { return float64(s.EvictedBytes) },
		})
	}
	for name, of := range gauges {
		m.Gauge(name, func() float64 { return of(store.Stats()) })
	}
	if copies, ok := store.(*cached.Store); ok {
		for name, of := range map[string]func(cached.Figures) int64{
			"muster_cache_hits_total":       func(f cached.Figures) int64 { return f.Hits },
			"muster_cache_misses_total":     func(f cached.Figures) int64 { return f.Misses },
			"muster_cache_hit_bytes_total":  func(f cached.Figures) int64 { return f.HitBytes },
			"muster_cache_miss_bytes_total": func(f cached.Figures) int64 { return f.MissBytes },
		} {
			m.Gauge(name, func() float64 { return float64(of(copies.Figures())) })
		}
	}
}
