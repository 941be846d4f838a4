package lab

import (
	"context"
	"flag"
	"io"

	"muster/lab/probe"
	"muster/lab/results"
)

// engineFlags defines the flags that engineArgs writes.
func engineFlags(f *flag.FlagSet, o *probe.EngineOptions) {
	f.StringVar(&o.Name, "engine", "", "")
	f.IntVar(&o.Threads, "threads", 1, "")
	f.BoolVar(&o.Bound, "bound", false, "")
}

func probeEngine(ctx context.Context, f *flag.FlagSet) func() (results.Sample, error) {
	o := probe.StoreOptions{}
	engineFlags(f, &o.Engine)
	f.StringVar(&o.Dir, "dir", "", "")
	f.IntVar(&o.Files, "files", 1, "")
	f.IntVar(&o.Size, "size", 0, "")
	f.IntVar(&o.Goroutines, "goroutines", 1, "")
	return func() (results.Sample, error) {
		c, err := probe.Store(ctx, o)
		if err != nil {
			return results.Sample{}, err
		}
		n := float64(o.Files)
		return results.Sample{N: o.Files, Values: []results.Value{
			{Unit: putUnit, Figure: float64(c.Put.Wall) / n}, {Unit: getUnit, Figure: float64(c.Get.Wall) / n},
			{Unit: threadsUnit, Figure: float64(c.Threads)},
		}}, nil
	}
}

// serveWord is the argument that makes a probe the server of another probe.
const serveWord = "serve"

func probeServe(ctx context.Context, args []string, stdin io.Reader, stdout io.Writer) error {
	o := probe.ServeOptions{}
	f := flag.NewFlagSet(serveWord, flag.ContinueOnError)
	f.SetOutput(io.Discard)
	engineFlags(f, &o.Engine)
	f.StringVar(&o.Dir, "dir", "", "")
	if err := f.Parse(args); err != nil {
		return err
	}
	return probe.Serve(ctx, o, stdin, stdout)
}

// probeUpload measures a server under load. The server is a process of its own. The repeated
// flag -word is its command; the folder is appended.
func probeUpload(ctx context.Context, f *flag.FlagSet) func() (results.Sample, error) {
	o := probe.UploadOptions{}
	words := commandFlag(f)
	dir := f.String("dir", "", "")
	f.IntVar(&o.Connections, "connections", 1, "")
	f.IntVar(&o.Requests, "requests", 1, "")
	f.IntVar(&o.Size, "size", 0, "")
	return func() (results.Sample, error) {
		o.Server = append(*words, "-dir", *dir)
		u, err := probe.Upload(ctx, o)
		if err != nil {
			return results.Sample{}, err
		}
		return results.Sample{N: u.N, Values: []results.Value{
			{Unit: results.NsPerOp, Figure: float64(u.Wall) / float64(u.N)}, {Unit: threadsUnit, Figure: float64(u.Threads)},
		}}, nil
	}
}
