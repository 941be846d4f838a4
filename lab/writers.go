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
	"muster/lab/results"
)

// Contestants that write to a database.
const (
	postgresImpl = "postgres"
	sqliteImpl   = "sqlite"
)

// Bounds on who writes.
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
		return inputf("rows of %d: from %d, one for each writer, to %d are possible", o.Rows, most, rowsMax)
	}
	return nil
}

// addWriters adds goroutines that write so many rows to databases at the same time. SQLite's
// is below dir, or where the system has temporary files; PostgreSQL's always is there, for
// its user must be able to enter. They are there until end is called; what the system has no
// database for is among the results' missing.
func (p planner) addWriters(ctx context.Context, writers []int, rows int, dir string) (end func() error, err error) {
	d := &databases{below: dir}
	defer func() {
		if err != nil {
			err = errors.Join(err, d.end())
		}
	}()
	if len(writers) == 0 {
		return d.end, nil
	}
	peers, err := p.Compile(ctx, native.Insert, nil)
	if err != nil {
		return nil, err
	}
	for _, one := range peers {
		dsn, err := d.begin(ctx, one.Impl)
		switch {
		case ctx.Err() != nil:
			return nil, errors.Join(ctx.Err(), err)
		case err != nil && one.Impl == postgresImpl:
			p.Results.Missing = append(p.Results.Missing, missingServer(err))
		case err != nil:
			return nil, err
		default:
			for _, goroutines := range writers {
				p.Add(insert(one, dsn, goroutines, rows))
			}
		}
	}
	return d.end, nil
}

// missingServer tells of a server that is not installed, or that does not start.
func missingServer(err error) results.Missing {
	var missing *postgres.Missing
	if errors.As(err, &missing) {
		return results.Missing{Peer: postgresName, Reason: missing.Reason, Install: missing.Install}
	}
	reason, _, _ := strings.Cut(err.Error(), "\n")
	return results.Missing{Peer: postgresName, Reason: reason}
}

// insert is a trial of one number of goroutines. Goroutines share SQLite's one connection, for
// it lets one write at a time; several would only look again and again whether it is
// their turn.
func insert(one run.Peer, dsn string, goroutines, rows int) run.Trial {
	args := []string{"-dsn", dsn, "-goroutines", strconv.Itoa(goroutines), "-rows", strconv.Itoa(rows)}
	if one.Impl == sqliteImpl {
		args = append(args, "-connections", "1")
	}
	return one.Trial(insertName(one.Impl, goroutines), 50*time.Millisecond+time.Duration(rows)*60*time.Microsecond, args...)
}

func insertName(impl string, goroutines int) string {
	return fmt.Sprintf("Insert/impl=%s/goroutines=%d", impl, goroutines)
}

// databases are what is written to, for as long as is measured.
type databases struct {
	below  string           // where SQLite's is; "" = where the system has temporary files
	dir    string           // of SQLite's file; empty = there is none
	server *postgres.Server // nil = none
}

// begin has a database ready, and returns where contestants find it.
func (d *databases) begin(ctx context.Context, impl string) (dsn string, err error) {
	if impl == sqliteImpl {
		d.dir, err = os.MkdirTemp(d.below, "muster-lab-")
		if err != nil {
			return "", err
		}
		return filepath.Abs(filepath.Join(d.dir, "inserts.db")) // a contestant runs in a folder of its own
	}
	d.server, err = postgres.Start(ctx, postgres.Options{})
	if err != nil {
		return "", err
	}
	return d.server.DSN(), nil
}

// end takes away what begin made.
func (d *databases) end() error {
	var stopped, removed error
	if d.server != nil {
		stopped = d.server.Stop()
	}
	if d.dir != "" {
		removed = os.RemoveAll(d.dir)
	}
	return errors.Join(stopped, removed)
}
