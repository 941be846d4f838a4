package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"time"

	"github.com/google/pprof/profile"

	"muster/regress"
	"muster/regress/check"
	"muster/regress/host"
	"muster/regress/record"
)

// profiled runs a command of muster in this process and writes a profile of its CPU. It is for the
// costs of the parts alone: the real program is what is timed.
func profiled(ctx context.Context, o options) (err error) {
	s := set{dir: o.profile.dir}
	f, err := os.Create(o.profile.file())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	run := record.Run
	if o.profile.command == "check" {
		run = check.Run
	}
	options := regress.Options{
		Corpus:  regress.Corpus{Path: s.archive()},
		Command: regress.Command{Words: []string{"true", "{in}"}},
		Limits:  regress.Limits{Jobs: runtime.NumCPU()},
		Judge:   regress.CompareOptions{Repeat: 1},
		Store:   regress.Store{Golden: s.golden(), State: s.state()},
		Report:  regress.Report{Format: regress.Text, Quiet: true},
		Helper:  []string{"/proc/self/exe"},
	}
	if o.profile.address != "" {
		options.Command.Words[0] = s.tool()
		options.Remote = regress.Remote{URL: "grpc://" + o.profile.address, Inputs: []string{s.tool()}, Jobs: o.slots}
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return err
	}
	sum, err := run(ctx, options, host.Host{Stdout: io.Discard, Stderr: os.Stderr})
	pprof.StopCPUProfile()
	if err == nil && sum.ExitStatus != 0 {
		err = fmt.Errorf("%s: exit status %d", o.profile.command, sum.ExitStatus)
	}
	return err
}

// part is a part of muster that only a few goroutines can do at once.
type part struct {
	name   string
	atOnce float64  // goroutines; 0: nothing else goes on meanwhile
	frames []string // beginnings of functions' names
}

// limitedParts are in the order in which a sample's part is decided. What is in none of them, any
// number of goroutines do at once. Which connection a sample belongs to is not known, so all of them
// count as one: no single one has more.
var limitedParts = []part{
	{"before and after the cases: index, selection, seal", 0, []string{"muster/regress/internal/golden.(*editor).seal", "main.profiled"}},
	{"the golden's writer", 1, []string{"muster/regress/internal/golden.(*Writer).Put"}},
	{"results, taken one at a time", 1, []string{"muster/regress/record.(*passes).count", "muster/regress/internal/verdict.(*collector).takeFirst"}},
	{"tasks, handed out one at a time", 1, []string{"muster/regress/internal/pass.(*queue)"}},
	{"requests for contents, four of a kind at once", 4, []string{"muster/regress/internal/exec/reapi/client.(*batcher"}},
	{"what the connections read", 1, []string{"google.golang.org/grpc/internal/transport.(*http2Client).reader"}},
	{"what the connections write", 1, []string{"google.golang.org/grpc/internal/transport.(*loopyWriter).run"}},
}

// readParts returns the CPU of each of limitedParts in a profile.
func readParts(path string) ([]time.Duration, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read
	p, err := profile.Parse(f)
	if err != nil {
		return nil, err
	}
	parts := make([]time.Duration, len(limitedParts))
	for _, s := range p.Sample {
		if i := slices.IndexFunc(limitedParts, func(part part) bool { return part.has(s) }); i >= 0 {
			parts[i] += time.Duration(s.Value[len(s.Value)-1])
		}
	}
	return parts, nil
}

func (p *part) has(s *profile.Sample) bool {
	for _, l := range s.Location {
		for _, line := range l.Line {
			if slices.ContainsFunc(p.frames, func(f string) bool { return strings.HasPrefix(line.Function.Name, f) }) {
				return true
			}
		}
	}
	return false
}
