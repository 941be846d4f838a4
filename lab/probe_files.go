package lab

import (
	"errors"
	"os"
	"path/filepath"

	"muster/lab/probe"
	"muster/lab/results"
)

func probeEngine(in input, o probe.StoreOptions) (results.Sample, error) {
	o.Dir = in.dir
	c, err := probe.Store(in.ctx, o)
	if err != nil {
		return results.Sample{}, err
	}
	n := float64(o.Files)
	return results.Sample{N: o.Files, Values: []results.Value{
		{Unit: putUnit, Figure: float64(c.Put.Wall) / n}, {Unit: getUnit, Figure: float64(c.Get.Wall) / n},
		{Unit: threadsUnit, Figure: float64(c.Threads)},
	}}, nil
}

// serveWord is the argument that makes a probe the server of another probe.
const serveWord = "serve"

func probeServe(in input, o probe.EngineOptions) (results.Sample, error) {
	return results.Sample{}, probe.Serve(in.ctx, probe.ServeOptions{Dir: in.dir, Engine: o}, in.stdin, in.stdout)
}

// probeUpload measures a server under load. The server is a process of its own.
func probeUpload(in input, o probe.UploadOptions) (results.Sample, error) {
	o.Server = append(in.words, "-dir", in.dir)
	u, err := probe.Upload(in.ctx, o)
	if err != nil {
		return results.Sample{}, err
	}
	return results.Sample{N: u.N, Values: []results.Value{
		{Unit: results.NsPerOp, Figure: float64(u.Wall) / float64(u.N)}, {Unit: threadsUnit, Figure: float64(u.Threads)},
	}}, nil
}

func probeFiles(in input, o probe.FilesOptions) (s results.Sample, err error) {
	o.Dir = in.dir
	c, err := probe.Files(in.ctx, o)
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

func probeRename(in input, o probe.RenameOptions) (results.Sample, error) {
	o.Dir = in.dir
	return costOf(probe.Rename(in.ctx, o))
}

func probeLog(in input, o probe.LogOptions) (results.Sample, error) {
	o.File = filepath.Join(in.dir, "log")
	return costOf(probe.Log(o))
}

func probeLock(_ input, o lockQuestion) (results.Sample, error) {
	return costOf(probe.Lock(o.Goroutines, o.Pairs))
}

func probeWakeUp(_ input, o wakeUpQuestion) (results.Sample, error) {
	return costOf(probe.WakeUp(o.Passes, o.Threads))
}

// blockWord is the argument that makes a probe run out of threads.
const blockWord = "block"

func probeBlock(in input, o blockQuestion) (results.Sample, error) {
	pipe, ok := in.stdin.(*os.File)
	if !ok {
		return results.Sample{}, errors.New("standard input is not a file")
	}
	return results.Sample{}, probe.BlockThreads(o.Limit, pipe, in.stdout)
}
