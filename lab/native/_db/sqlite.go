package main

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	_ "modernc.org/sqlite"
)

// patience is how long a connection waits for the one that writes, in milliseconds. SQLite has
// no queue, so among a thousand waiting connections some wait long.
const patience = 120_000

type sqlite struct {
	db       *sql.DB
	prepared *sql.Stmt
}

func openSQLite(ctx context.Context, o *options) (table, error) {
	if o.connections == 0 {
		o.connections = o.goroutines
	}
	o.connections = min(o.connections, o.goroutines)
	file, err := filepath.Abs(o.dsn)
	if err != nil {
		return nil, err
	}
	dsn := url.URL{Scheme: "file", Path: file}
	db, err := sql.Open("sqlite", fmt.Sprintf("%s?_pragma=busy_timeout(%d)&_pragma=journal_mode(wal)&_pragma=synchronous(full)", dsn.String(), patience))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(o.connections)
	db.SetMaxIdleConns(o.connections)
	for _, sql := range []string{"DROP TABLE IF EXISTS inserts", "CREATE TABLE inserts (id INTEGER PRIMARY KEY, content TEXT NOT NULL)"} {
		if _, err := db.ExecContext(ctx, sql); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", o.dsn, sql, err)
		}
	}
	to := &sqlite{db: db}
	if err := to.connectAll(ctx, o.connections); err != nil {
		return nil, fmt.Errorf("%s: %w", o.dsn, err)
	}
	to.prepared, err = db.PrepareContext(ctx, "INSERT INTO inserts (id, content) VALUES (?, ?)")
	return to, err
}

// connectAll holds all connections at once, so that each is made before the clock starts,
// and looks whether the first keeps a journal that lets others read.
func (s *sqlite) connectAll(ctx context.Context, n int) error {
	for range n {
		c, err := s.db.Conn(ctx)
		if err != nil {
			return err
		}
		defer c.Close()
		var mode string
		if err := c.QueryRowContext(ctx, "PRAGMA journal_mode").Scan(&mode); err != nil {
			return err
		}
		if !strings.EqualFold(mode, "wal") {
			return fmt.Errorf("the journal's mode is %s instead of wal", mode)
		}
	}
	return nil
}

func (s *sqlite) insert(ctx context.Context, row int) error {
	_, err := s.prepared.ExecContext(ctx, row, content(row))
	return err
}

func (s *sqlite) count(ctx context.Context) (n int, err error) {
	err = s.db.QueryRowContext(ctx, "SELECT count(*) FROM inserts").Scan(&n)
	return n, err
}

func (s *sqlite) close(ctx context.Context) error {
	if _, err := s.db.ExecContext(ctx, "DROP TABLE inserts"); err != nil {
		return err
	}
	return s.db.Close()
}
