package lab

import (
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"

	"muster/lab/probe"
)

// What the steps of [probe.Files] are called in units.
const (
	createUnit = "create-ns/op"
	readUnit   = "read-ns/op"
	statUnit   = "stat-ns/op"
	renameUnit = "rename-ns/op"
	removeUnit = "remove-ns/op"
)

func probeFiles(ctx context.Context, f *flag.FlagSet) func() (Sample, error) {
	o := probe.FilesOptions{}
	f.StringVar(&o.Dir, "dir", "", "")
	f.IntVar(&o.Files, "files", 1, "")
	f.IntVar(&o.Size, "size", 0, "")
	f.IntVar(&o.Workers, "workers", 1, "")
	return func() (s Sample, err error) {
		c, err := probe.Files(ctx, o)
		if err != nil {
			return s, err
		}
		s.N = o.Files
		for _, step := range []struct {
			unit string
			cost probe.Cost
		}{{createUnit, c.Create}, {readUnit, c.Read}, {statUnit, c.Stat}, {renameUnit, c.Rename}, {removeUnit, c.Remove}} {
			s.Values = append(s.Values, Value{step.unit, float64(step.cost.Wall) / float64(step.cost.N)})
		}
		return s, nil
	}
}

func probeLayout(ctx context.Context, f *flag.FlagSet) func() (Sample, error) {
	o := probe.LayoutOptions{}
	f.StringVar(&o.Dir, "dir", "", "")
	f.IntVar(&o.Files, "files", 1, "")
	f.IntVar(&o.Folders, "folders", 1, "")
	return func() (Sample, error) {
		c, err := probe.Layout(ctx, o)
		return sampleOf(c), err
	}
}

func probeLog(f *flag.FlagSet) func() (Sample, error) {
	o := probe.LogOptions{}
	dir := f.String("dir", "", "")
	f.StringVar(&o.Logger, "logger", "", "")
	f.IntVar(&o.Lines, "lines", 1, "")
	f.IntVar(&o.Goroutines, "goroutines", 1, "")
	f.BoolVar(&o.Buffered, "buffered", false, "")
	return func() (Sample, error) {
		o.File = filepath.Join(*dir, "log")
		c, err := probe.Log(o)
		return sampleOf(c), err
	}
}

func probeLock(f *flag.FlagSet) func() (Sample, error) {
	goroutines := f.Int("goroutines", 1, "")
	pairs := f.Int("pairs", 1, "")
	return func() (Sample, error) {
		c, err := probe.Lock(*goroutines, *pairs)
		return sampleOf(c), err
	}
}

func probeWakeUp(f *flag.FlagSet) func() (Sample, error) {
	passes := f.Int("passes", 2, "")
	ofThreads := f.Bool("threads", false, "")
	return func() (Sample, error) {
		c, err := probe.WakeUp(*passes, *ofThreads)
		return sampleOf(c), err
	}
}

// blockWord makes a probe one that is to be ended by Go's runtime.
const blockWord = "block"

func probeBlock(f *flag.FlagSet, stdin io.Reader, stdout io.Writer) func() (Sample, error) {
	limit := f.Int("limit", 0, "")
	return func() (Sample, error) {
		pipe, ok := stdin.(*os.File)
		if !ok {
			return Sample{}, errors.New("standard input is no file to be blocked by")
		}
		return Sample{}, probe.BlockThreads(*limit, pipe, stdout)
	}
}
