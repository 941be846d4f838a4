package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"muster/bench/timing"
	"muster/lab/corpora"
)

// set is a corpus with its golden.
type set struct {
	*bench
	name    string
	archive string
	cases   int
	bytes   int64  // of the archive
	tool    string // the file that travels
}

// newSet writes a corpus. Nobody has seen its sources before: they are of a seed of their own.
func (b *bench) newSet(name string, spec corpora.Spec) (*set, error) {
	b.seed++
	spec.Seed += b.seed << 8
	s := &set{bench: b, name: name, archive: filepath.Join(b.dir, name+".tar"), cases: spec.Cases}
	if err := corpora.Write(s.archive, spec); err != nil {
		return nil, err
	}
	info, err := os.Stat(s.archive)
	if err != nil {
		return nil, err
	}
	s.bytes = info.Size()
	return s, s.newTool("1")
}

// newTool has another tool than before, which does the same.
func (s *set) newTool(version string) error {
	s.tool = filepath.Join(s.dir, s.name+"-tool", "tool")
	if err := os.MkdirAll(filepath.Dir(s.tool), 0o755); err != nil {
		return err
	}
	return os.WriteFile(s.tool, []byte(script+"# "+s.name+" "+version+"\n"), 0o755)
}

// settings writes the settings of the engine for that many cases at once; 0 = muster's default.
func (s *set) settings(jobs int) (file string, err error) {
	file = filepath.Join(s.dir, fmt.Sprintf("%s-%d.toml", s.name, jobs))
	return file, os.WriteFile(file, fmt.Appendf(nil, "[engine]\ninput = [%q]\njobs = %d\n", s.tool, jobs), 0o644)
}

// remove makes room.
func (s *set) remove() error { return os.Remove(s.archive) }

// ran is one run of muster, with what the engine and the wire saw of it.
type ran struct {
	timing.Sample
	cases  int
	cached int
	peak   int64         // bytes that were resident at most
	engine time.Duration // CPU of the engine meanwhile
	traffic
}

func (s *set) record(ctx context.Context, addr string, args ...string) (ran, error) {
	return s.run(ctx, "record", addr, append(args, "--repeat", "1")...)
}

func (s *set) check(ctx context.Context, addr string, args ...string) (ran, error) {
	return s.run(ctx, "check", addr, args...)
}

// summary is the last line of muster's JSON.
type summary struct {
	Cases, Recorded, Identical int
	Engine                     struct{ Cached, Executed int }
}

// run runs muster against the engine at addr, which may be the wire. Whatever is not recorded
// or identical is an error: nothing else is measured.
func (s *set) run(ctx context.Context, command, addr string, args ...string) (r ran, err error) {
	fmt.Fprintf(s.progress, "%s %s: %s of %d cases %s\n", time.Now().Format("15:04:05"), s.name, command, s.cases, strings.Join(args, " "))
	golden := filepath.Join(s.dir, s.name+".golden")
	settings, err := s.settings(0)
	if err != nil {
		return r, err
	}
	words := append([]string{
		command, s.archive, "--remote", "grpc://" + addr, "--config", settings, "--golden", golden,
		"--state", golden + ".state", "--format", "json", "--quiet",
	}, args...)
	cmd := exec.CommandContext(ctx, s.muster, append(words, "--", s.tool, "{in}")...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.Dir = &out, &errs, s.dir
	s.wire.reset()
	before, began := s.engine.cpu(), time.Now()
	if err := cmd.Start(); err != nil {
		return r, err
	}
	peak := timing.WatchPeak(cmd.Process.Pid)
	err = cmd.Wait()
	r.Wall, r.engine = time.Since(began), s.engine.cpu()-before
	r.peak, r.traffic = peak(), s.wire.reset()
	var sum summary
	lines := bytes.Split(bytes.TrimSpace(out.Bytes()), []byte("\n"))
	if e := json.Unmarshal(lines[len(lines)-1], &sum); err != nil || e != nil || sum.Recorded+sum.Identical != s.cases {
		return r, fmt.Errorf("%v: %v, %v\n%s%s", cmd, err, e, out.Bytes(), errs.Bytes())
	}
	r.User, r.Sys = cmd.ProcessState.UserTime(), cmd.ProcessState.SystemTime()
	r.cases, r.cached = s.cases, sum.Engine.Cached
	return r, nil
}

// known is a check whose results the engine has in its cache.
func (s *set) known(ctx context.Context, addr string, args ...string) (ran, error) {
	r, err := s.check(ctx, addr, args...)
	if err == nil && r.cached != s.cases {
		err = fmt.Errorf("%s: the engine knew %d of %d results", s.name, r.cached, s.cases)
	}
	return r, err
}
