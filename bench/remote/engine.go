package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"muster/bench/timing"
)

// engine is the server under load: a process of the benchmark, or an address.
type engine struct {
	addr    string
	cmd     *exec.Cmd // nil of one at an address
	log     bytes.Buffer
	stopped chan error
}

// startTime is how long the engine may take until it listens.
const startTime = 30 * time.Second

// The engine must not have to throw anything away.
const quota = "--quota-high=64G"

func (b *bench) start(ctx context.Context) (*engine, error) {
	if b.address != "" {
		return &engine{addr: b.address}, nil
	}
	folder := filepath.Join(b.dir, "engine")
	if err := os.Mkdir(folder, 0o755); err != nil {
		return nil, err
	}
	addr, port, err := freeAddr(ctx)
	if err != nil {
		return nil, err
	}
	e := &engine{addr: addr, cmd: exec.CommandContext(ctx, b.script, "run", port, folder, quota), stopped: make(chan error, 1)}
	e.cmd.Stdout, e.cmd.Stderr = &e.log, &e.log
	e.cmd.Cancel = func() error { return e.cmd.Process.Signal(syscall.SIGTERM) }
	if err := e.cmd.Start(); err != nil {
		return nil, err
	}
	go func() { e.stopped <- e.cmd.Wait() }()
	return e, e.await(ctx)
}

func (e *engine) await(ctx context.Context) error {
	for began := time.Now(); ; {
		var d net.Dialer
		if c, err := d.DialContext(ctx, "tcp", e.addr); err == nil {
			return c.Close()
		}
		select {
		case err := <-e.stopped:
			return fmt.Errorf("the engine did not start: %w\n%s", err, e.log.Bytes())
		case <-time.After(50 * time.Millisecond):
		}
		if time.Since(began) > startTime {
			return errors.Join(fmt.Errorf("the engine does not listen at %s", e.addr), e.stop())
		}
	}
}

// stop ends it. That a signal did is no error.
func (e *engine) stop() error {
	if e.cmd == nil {
		return nil
	}
	_ = e.cmd.Process.Signal(syscall.SIGTERM)
	err := <-e.stopped
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return nil
	}
	return err
}

// cpu is what the engine and the sandboxes that have ended took so far; 0 of one at an address.
func (e *engine) cpu() time.Duration {
	if e.cmd == nil {
		return 0
	}
	return timing.CPUOf(e.cmd.Process.Pid)
}

// freeAddr is an address on which nobody listens; somebody may before we do.
func freeAddr(ctx context.Context) (addr, port string, err error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", "", err
	}
	addr = l.Addr().String()
	_, port, err = net.SplitHostPort(addr)
	return addr, port, errors.Join(err, l.Close())
}
