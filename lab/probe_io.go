package lab

import (
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"

	"muster/lab/internal/run"
	"muster/lab/probe"
	"muster/lab/results"
)

func probeFiles(ctx context.Context, f *flag.FlagSet) func() (results.Sample, error) {
	o := probe.FilesOptions{}
	f.StringVar(&o.Dir, "dir", "", "")
	f.IntVar(&o.Files, "files", 1, "")
	f.IntVar(&o.Size, "size", 0, "")
	f.IntVar(&o.Workers, "workers", 1, "")
	return func() (s results.Sample, err error) {
		c, err := probe.Files(ctx, o)
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
}

func probeRename(ctx context.Context, f *flag.FlagSet) func() (results.Sample, error) {
	o := probe.RenameOptions{}
	f.StringVar(&o.Dir, "dir", "", "")
	f.IntVar(&o.Files, "files", 1, "")
	f.IntVar(&o.Folders, "folders", 1, "")
	return func() (results.Sample, error) {
		c, err := probe.Rename(ctx, o)
		return run.NewSample(c), err
	}
}

func probeLog(f *flag.FlagSet) func() (results.Sample, error) {
	o := probe.LogOptions{}
	dir := f.String("dir", "", "")
	f.StringVar(&o.Logger, "logger", "", "")
	f.IntVar(&o.Lines, "lines", 1, "")
	f.IntVar(&o.Goroutines, "goroutines", 1, "")
	f.BoolVar(&o.Buffered, "buffered", false, "")
	return func() (results.Sample, error) {
		o.File = filepath.Join(*dir, "log")
		c, err := probe.Log(o)
		return run.NewSample(c), err
	}
}

func probeLock(f *flag.FlagSet) func() (results.Sample, error) {
	goroutines := f.Int("goroutines", 1, "")
	pairs := f.Int("pairs", 1, "")
	return func() (results.Sample, error) {
		c, err := probe.Lock(*goroutines, *pairs)
		return run.NewSample(c), err
	}
}

func probeWakeUp(f *flag.FlagSet) func() (results.Sample, error) {
	passes := f.Int("passes", 2, "")
	ofThreads := f.Bool("threads", false, "")
	return func() (results.Sample, error) {
		c, err := probe.WakeUp(*passes, *ofThreads)
		return run.NewSample(c), err
	}
}

// blockWord is the argument that makes a probe run out of threads.
const blockWord = "block"

func probeBlock(f *flag.FlagSet, stdin io.Reader, stdout io.Writer) func() (results.Sample, error) {
	limit := f.Int("limit", 0, "")
	return func() (results.Sample, error) {
		pipe, ok := stdin.(*os.File)
		if !ok {
			return results.Sample{}, errors.New("standard input is not a file")
		}
		return results.Sample{}, probe.BlockThreads(*limit, pipe, stdout)
	}
}
