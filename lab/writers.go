package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"muster/lab/native"
	"muster/lab/postgres"
)

// Contestants that write to a database.
const (
	postgresImpl = "postgres"
	sqliteImpl   = "sqlite"
)

// Units of theirs.
const (
	rowsPerSecond = "rows/s"
	clientRSS     = "rss-B" // at the end, of the whole process
	connections   = "connections"
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

// addWriters adds goroutines that write to databases at the same time. The databases are
// there until end is called; what the system has no database for is among the results'
// missing.
func (p *plan) addWriters(ctx context.Context, o ChannelOptions) (end func() error, err error) {
	d := &databases{}
	defer func() {
		if err != nil {
			err = errors.Join(err, d.end())
		}
	}()
	if len(o.Writers) == 0 {
		return d.end, nil
	}
	peers, err := p.compile(ctx, native.Insert)
	if err != nil {
		return nil, err
	}
	for _, one := range peers {
		dsn, err := d.begin(ctx, one.impl)
		switch {
		case ctx.Err() != nil:
			return nil, errors.Join(ctx.Err(), err)
		case err != nil && one.impl == postgresImpl:
			p.results.Missing = append(p.results.Missing, missingServer(err))
		case err != nil:
			return nil, err
		default:
			for _, goroutines := range o.Writers {
				p.addInsert(o, one, dsn, goroutines)
			}
		}
	}
	return d.end, nil
}

// missingServer tells of a server that is not installed, or that does not start.
func missingServer(err error) Missing {
	var missing *postgres.Missing
	if errors.As(err, &missing) {
		return Missing{postgresName, missing.Reason, missing.Install}
	}
	reason, _, _ := strings.Cut(err.Error(), "\n")
	return Missing{postgresName, reason, "apt-get install postgresql"}
}

// addInsert adds one number of goroutines. Goroutines share SQLite's one connection, for
// it lets one write at a time; several would only look again and again whether it is
// their turn.
func (p *plan) addInsert(o ChannelOptions, one peer, dsn string, goroutines int) {
	c := append(slices.Clone(one.command), "-dsn", dsn, "-goroutines", strconv.Itoa(goroutines), "-rows", strconv.Itoa(o.Rows))
	if one.impl == sqliteImpl {
		c = append(c, "-connections", "1")
	}
	p.add(trial{
		name: insertName(one.impl, goroutines), command: c, dir: one.dir,
		estimate: 50*time.Millisecond + time.Duration(o.Rows)*60*time.Microsecond,
	})
}

func insertName(impl string, goroutines int) string {
	return fmt.Sprintf("Insert/impl=%s/goroutines=%d", impl, goroutines)
}

// databases are what is written to, for as long as is measured.
type databases struct {
	dir    string           // of SQLite's file; empty = there is none
	server *postgres.Server // nil = none
}

// begin has a database ready, and returns where contestants find it.
func (d *databases) begin(ctx context.Context, impl string) (dsn string, err error) {
	if impl == sqliteImpl {
		d.dir, err = os.MkdirTemp("", "muster-lab-")
		return filepath.Join(d.dir, "inserts.db"), err
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
