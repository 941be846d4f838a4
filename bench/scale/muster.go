package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"muster/bench/timing"
)

// bench is a measurement under way.
type bench struct {
	options
	self, dir string
}

// set is a corpus with its golden, in a folder of its own.
type set struct {
	dir   string
	cases int
}

func (s set) archive() string { return filepath.Join(s.dir, "corpus.tar") }
func (s set) tool() string    { return filepath.Join(s.dir, "tool") }
func (s set) golden() string  { return filepath.Join(s.dir, "golden") }
func (s set) state() string   { return filepath.Join(s.dir, "state") }

func (b *bench) newSet(name string, cases int) (s set, err error) {
	s = set{filepath.Join(b.dir, name), cases}
	if _, err := os.Stat(s.archive()); err == nil {
		return s, nil // of -keep
	}
	if err = os.MkdirAll(s.dir, 0o755); err == nil {
		err = os.WriteFile(s.tool(), []byte("#!/bin/sh\nexit 0\n"), 0o755)
	}
	if err == nil {
		err = writeCorpus(s.archive(), cases)
	}
	return s, err
}

// ran is one run of muster with what its engine saw.
type ran struct {
	timing.Sample
	Cases  int           // each counts once for each of its runs
	Peak   int64         // bytes that were resident at most
	Engine time.Duration // CPU of the engine's process
	Golden int64         // bytes of the golden
	Saw    report        // of the engine
}

// cpus returns the processors of muster and of the engine. On two cores both take all there are.
func (k kind) cpus() (muster, engine string) {
	if k.Cores == 1 {
		return "0", "1"
	}
	return "", ""
}

// run runs muster with an engine of its own, which has seen nothing. Whatever is not recorded or
// identical ends the benchmark.
func (b *bench) run(ctx context.Context, s set, k kind) (r ran, err error) {
	fmt.Fprintf(b.progress, "%s %d cases %+v\n", time.Now().Format("15:04:05"), s.cases, k)
	repeat, flag := max(1, k.Repeat), "--runs"
	if k.Command == "record" {
		flag = "--repeat"
	}
	words := []string{k.Command, s.archive(), "--golden", s.golden(), "--state", s.state(), "--quiet", flag, strconv.Itoa(repeat)}
	forMuster, forEngine := k.cpus()
	tool := "true"
	if !k.Lanes {
		e, failed := b.startEngine(ctx, forEngine)
		if failed != nil {
			return r, failed
		}
		defer func() {
			r.Engine = timing.CPUOf(e.cmd.Process.Pid)
			err = errors.Join(err, e.stop(&r.Saw))
		}()
		tool = s.tool()
		settings := s.golden() + ".toml"
		if err := os.WriteFile(settings, fmt.Appendf(nil, "[engine]\njobs = %d\ninput = [%q]\n", b.slots, tool), 0o644); err != nil {
			return r, err
		}
		words = append(words, "--remote", "grpc://"+e.addr, "--config", settings)
	}
	cmd := pinned(ctx, forMuster, b.muster, append(words, "--", tool, "{in}")...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return r, err
	}
	peak := timing.WatchPeak(cmd.Process.Pid)
	err = cmd.Wait()
	r.Wall, r.Peak, r.Cases = time.Since(began), peak(), s.cases*repeat
	if err != nil {
		return r, fmt.Errorf("%v: %w\n%s", cmd, err, out.Bytes())
	}
	r.User, r.Sys = cmd.ProcessState.UserTime(), cmd.ProcessState.SystemTime()
	info, err := os.Stat(s.golden())
	if err == nil {
		r.Golden = info.Size()
	}
	return r, err
}

// pinned returns a command that runs on some CPUs alone.
func pinned(ctx context.Context, cpus, program string, args ...string) *exec.Cmd {
	if cpus == "" {
		return exec.CommandContext(ctx, program, args...)
	}
	return exec.CommandContext(ctx, "taskset", append([]string{"-c", cpus, program}, args...)...)
}

// engineProcess is an engine in a process of its own.
type engineProcess struct {
	cmd     *exec.Cmd
	addr    string
	printed *json.Decoder
}

// engineGC has the engine collect garbage seldom, to leave the CPU to muster.
const engineGC = "GOGC=150"

func (b *bench) startEngine(ctx context.Context, cpus string) (*engineProcess, error) {
	e := &engineProcess{cmd: pinned(ctx, cpus, b.self, "-engine", "-slots", strconv.Itoa(b.slots), "-takes", b.takes.String())}
	e.cmd.Env, e.cmd.Stderr = append(os.Environ(), engineGC), b.progress
	out, err := e.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := e.cmd.Start(); err != nil {
		return nil, err
	}
	e.printed = json.NewDecoder(out)
	if err := e.printed.Decode(&e.addr); err != nil {
		return nil, errors.Join(fmt.Errorf("the engine did not start: %w", err), e.cmd.Wait())
	}
	return e, nil
}

// stop ends the engine and reads what it saw.
func (e *engineProcess) stop(saw *report) error {
	if err := e.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	return errors.Join(e.printed.Decode(saw), e.cmd.Wait())
}

// profileOf says which run of muster is made in this process.
type profileOf struct{ command, dir, address string }

func (p profileOf) file() string { return filepath.Join(p.dir, "cpu.pprof") }

// parts runs a command of muster in a process of the benchmark, and returns the CPU that each part
// took for a case.
func (b *bench) parts(ctx context.Context, s set, command string, lanes bool) (parts []time.Duration, err error) {
	fmt.Fprintf(b.progress, "%s profile of %s of %d cases\n", time.Now().Format("15:04:05"), command, s.cases)
	of := profileOf{command: command, dir: s.dir}
	if !lanes {
		e, err := b.startEngine(ctx, "")
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, e.stop(new(report))) }()
		of.address = e.addr
	}
	cmd := exec.CommandContext(ctx, b.self, "-profile", command, "-profile-dir", s.dir, "-profile-engine", of.address, "-slots", strconv.Itoa(b.slots))
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%v: %w\n%s", cmd, err, out)
	}
	if parts, err = readParts(of.file()); err != nil {
		return nil, err
	}
	for i := range parts {
		parts[i] /= time.Duration(s.cases)
	}
	return parts, nil
}

// describe names the program.
func (b *bench) describe(ctx context.Context) string {
	out, _ := exec.CommandContext(ctx, b.muster, "version").Output() // a program without it has measured all the same
	line, _, _ := strings.Cut(string(out), "\n")
	return line
}
