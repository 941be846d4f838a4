package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"muster/lab/internal/run"
	"muster/lab/native"
	"muster/lab/postgres"
	"muster/lab/probe"
	"muster/lab/results"
)

func probeEngine(in input, o probe.StoreOptions) (results.Sample, error) {
	o.Dir = in.dir
	c, err := probe.Store(in.ctx, o)
	if err != nil {
		return results.Sample{}, err
	}
	n := float64(o.Files)
	return results.Sample{N: o.Files, Values: []results.Value{
		{Unit: putUnit, Figure: float64(c.Put.Wall) / n}, {Unit: getUnit, Figure: float64(c.Get.Wall) / n},
		{Unit: threadsUnit, Figure: float64(c.Threads)},
	}}, nil
}

// serveWord is the argument that makes a probe the server of another probe.
const serveWord = "serve"

func probeServe(in input, o probe.EngineOptions) (results.Sample, error) {
	return results.Sample{}, probe.Serve(in.ctx, probe.ServeOptions{Dir: in.dir, Engine: o}, in.stdin, in.stdout)
}

// probeUpload measures a server under load. The server is a process of its own.
func probeUpload(in input, o probe.UploadOptions) (results.Sample, error) {
	o.Server = append(in.words, "-dir", in.dir)
	u, err := probe.Upload(in.ctx, o)
	if err != nil {
		return results.Sample{}, err
	}
	return results.Sample{N: u.N, Values: []results.Value{
		{Unit: results.NsPerOp, Figure: float64(u.Wall) / float64(u.N)}, {Unit: threadsUnit, Figure: float64(u.Threads)},
	}}, nil
}

func probeFiles(in input, o probe.FilesOptions) (s results.Sample, err error) {
	o.Dir = in.dir
	c, err := probe.Files(in.ctx, o)
	if err != nil {
		return s, err
	}
	s.N = o.Files
	for _, step := range []struct {
		unit string
		cost probe.Cost
	}{{createUnit, c.Create}, {readUnit, c.Read}, {statUnit, c.Stat}, {renameUnit, c.Rename}, {removeUnit, c.Remove}} {
		s.Values = append(s.Values, results.Value{Unit: step.unit, Figure: float64(step.cost.Wall) / float64(step.cost.N)})
	}
	return s, nil
}

func probeRename(in input, o probe.RenameOptions) (results.Sample, error) {
	o.Dir = in.dir
	return costOf(probe.Rename(in.ctx, o))
}

func probeLog(in input, o probe.LogOptions) (results.Sample, error) {
	o.File = filepath.Join(in.dir, "log")
	return costOf(probe.Log(o))
}

func probeLock(_ input, o lockQuestion) (results.Sample, error) {
	return costOf(probe.Lock(o.Goroutines, o.Pairs))
}

func probeWakeUp(_ input, o wakeUpQuestion) (results.Sample, error) {
	return costOf(probe.WakeUp(o.Passes, o.Threads))
}

// blockWord is the argument that makes a probe run out of threads.
const blockWord = "block"

func probeBlock(in input, o blockQuestion) (results.Sample, error) {
	pipe, ok := in.stdin.(*os.File)
	if !ok {
		return results.Sample{}, errors.New("standard input is not a file")
	}
	return results.Sample{}, probe.BlockThreads(o.Limit, pipe, in.stdout)
}

// Contestants that write to a database.
const (
	postgresImpl = "postgres"
	sqliteImpl   = "sqlite"
)

// Bounds on the numbers of writers and rows.
const (
	writersMax = 100_000
	rowsMax    = 100_000_000
)

func (o *ChannelOptions) checkWriters() error {
	if len(o.Writers) == 0 {
		return nil
	}
	if err := checkNumbers("writers", 1, writersMax, o.Writers...); err != nil {
		return err
	}
	if most := o.Writers[len(o.Writers)-1]; o.Rows < most || o.Rows > rowsMax {
		return inputf("rows is %d, but must be from %d (one for each writer) to %d", o.Rows, most, rowsMax)
	}
	return nil
}

// addWriters adds trials of goroutines that write rows to a database at the same time.
// SQLite's file is below dir, or in the system's folder for temporary files. PostgreSQL's
// folder is always in the latter, because the server's user must be able to enter it. The
// caller must call end to remove the databases. A database that this machine lacks is recorded
// as missing.
func (p planner) addWriters(ctx context.Context, writers []int, rows int, dir string) (end func() error, err error) {
	d := &databases{parent: dir}
	defer func() {
		if err != nil {
			err = errors.Join(err, d.remove())
		}
	}()
	if len(writers) == 0 {
		return d.remove, nil
	}
	peers, err := p.Compile(ctx, native.Insert, nil)
	if err != nil {
		return nil, err
	}
	for _, peer := range peers {
		dsn, err := d.start(ctx, peer.Impl)
		switch {
		case ctx.Err() != nil:
			return nil, errors.Join(ctx.Err(), err)
		case err != nil && peer.Impl == postgresImpl:
			p.Results.Missing = append(p.Results.Missing, missingServer(err))
		case err != nil:
			return nil, err
		default:
			for _, goroutines := range writers {
				p.Add(insertTrial(peer, dsn, goroutines, rows))
			}
		}
	}
	return d.remove, nil
}

// missingServer describes a server that is not installed or does not start.
func missingServer(err error) results.Missing {
	var missing *postgres.Missing
	if errors.As(err, &missing) {
		return results.Missing{Peer: postgresName, Reason: missing.Reason, Install: missing.Install}
	}
	reason, _, _ := strings.Cut(err.Error(), "\n")
	return results.Missing{Peer: postgresName, Reason: reason}
}

// insertTrial returns a trial with the given number of goroutines. With SQLite they share one
// connection, because it allows one writer at a time; several connections would only poll for
// their turn.
func insertTrial(peer run.Peer, dsn string, goroutines, rows int) run.Trial {
	args := []string{"-dsn", dsn, "-goroutines", strconv.Itoa(goroutines), "-rows", strconv.Itoa(rows)}
	if peer.Impl == sqliteImpl {
		args = append(args, "-connections", "1")
	}
	t := peer.Trial(insertName(peer.Impl, goroutines), 50*time.Millisecond+time.Duration(rows)*60*time.Microsecond, args...)
	t.Served = peer.Impl == postgresImpl
	return t
}

func insertName(impl string, goroutines int) string {
	return fmt.Sprintf("Insert/impl=%s/goroutines=%d", impl, goroutines)
}

// databases are the databases of one measurement.
type databases struct {
	parent string           // parent of SQLite's folder; "" = the system's folder for temporary files
	dir    string           // folder of SQLite's file; "" = not created
	server *postgres.Server // nil = none
}

// start creates a database and returns its connection string.
func (d *databases) start(ctx context.Context, impl string) (dsn string, err error) {
	if impl == sqliteImpl {
		d.dir, err = os.MkdirTemp(d.parent, "muster-lab-")
		if err != nil {
			return "", err
		}
		return filepath.Abs(filepath.Join(d.dir, "inserts.db")) // contestants have another working folder
	}
	d.server, err = postgres.Start(ctx)
	if err != nil {
		return "", err
	}
	return d.server.DSN(), nil
}

// remove stops the server and removes all files.
func (d *databases) remove() error {
	var stopped, removed error
	if d.server != nil {
		stopped = d.server.Stop()
	}
	if d.dir != "" {
		removed = os.RemoveAll(d.dir)
	}
	return errors.Join(stopped, removed)
}
