package main

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

type postgres struct{ pool *pgxpool.Pool }

func openPostgres(ctx context.Context, o *options) (table, error) {
	config, err := pgxpool.ParseConfig(o.dsn)
	if err != nil {
		return nil, err
	}
	allowed, err := allowedConnections(ctx, o.dsn)
	if err != nil {
		return nil, err
	}
	if o.connections == 0 {
		o.connections = o.goroutines
	}
	o.connections = min(o.connections, o.goroutines, allowed)
	config.MaxConns = int32(o.connections)
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	to := &postgres{pool}
	for _, sql := range []string{"DROP TABLE IF EXISTS inserts", "CREATE TABLE inserts (id bigint PRIMARY KEY, content text NOT NULL)"} {
		if _, err := pool.Exec(ctx, sql); err != nil {
			return nil, fmt.Errorf("%s: %w", sql, err)
		}
	}
	return to, to.connectAll(ctx, o.connections)
}

// allowedConnections is how many the server grants beside those it keeps back.
func allowedConnections(ctx context.Context, dsn string) (n int, err error) {
	c, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return 0, err
	}
	defer c.Close(ctx)
	err = c.QueryRow(ctx, "SELECT current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int").Scan(&n)
	return n, err
}

// connectAll holds all connections at once, so that each is made before the clock starts.
func (p *postgres) connectAll(ctx context.Context, n int) error {
	for range n {
		c, err := p.pool.Acquire(ctx)
		if err != nil {
			return err
		}
		defer c.Release()
	}
	return nil
}

// insert is a transaction by itself; pgx prepares it once for each connection.
func (p *postgres) insert(ctx context.Context, row int) error {
	_, err := p.pool.Exec(ctx, "INSERT INTO inserts (id, content) VALUES ($1, $2)", row, content(row))
	return err
}

func (p *postgres) count(ctx context.Context) (n int, err error) {
	err = p.pool.QueryRow(ctx, "SELECT count(*) FROM inserts").Scan(&n)
	return n, err
}

func (p *postgres) close(ctx context.Context) error {
	_, err := p.pool.Exec(ctx, "DROP TABLE inserts")
	p.pool.Close()
	return err
}
