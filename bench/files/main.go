// Command files measures muster serve beside nginx and a plain program with net/http, all
// under the same load of muster load, and prints Markdown: medians, threads, and ratios of
// each round.
//
//	go run ./files -muster ../bin/muster
//	go run ./files -muster ../bin/muster -disk slow -requests 5000
//	go run ./files -muster ../bin/muster -engines pool -silent 600
//	go run ./files -muster ../bin/muster -crowd -connections 5000
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "files:", err)
		os.Exit(1)
	}
}

// bench is what the flags say, and what was built for it.
type bench struct {
	muster, plain string
	engines       []string
	sync          string
	threads       int
	disk          disk

	connections, requests int
	silent, hogs          int
	size                  string
	rounds                int
	operations            []string

	out io.Writer
}

func run(ctx context.Context, args []string, out io.Writer) (err error) {
	b := &bench{out: out}
	f := flag.NewFlagSet("files", flag.ContinueOnError)
	f.StringVar(&b.muster, "muster", "../bin/muster", "the `program`")
	engines := f.String("engines", "pool,cthreads,uring,direct", "of muster; pool:34 has GOMAXPROCS=34, pool=FILE is of another program")
	f.StringVar(&b.sync, "sync", "none", "of muster: none, group or fdatasync")
	f.IntVar(&b.threads, "threads", 32, "of muster, for files")
	f.StringVar(&b.disk.kind, "disk", pageDisk, "page (in memory), slow (in memory, but it blocks), both need root; or folder (whatever that is on)")
	f.StringVar(&b.disk.size, "disk-size", "4G", "of the disk in memory")
	f.StringVar(&b.disk.folder, "folder", os.TempDir(), "where a folder is made for the files, and removed")
	f.IntVar(&b.connections, "connections", 500, "at a time")
	f.IntVar(&b.requests, "requests", 20_000, "of one run")
	f.StringVar(&b.size, "size", "50K", "bytes of a file")
	f.IntVar(&b.rounds, "rounds", 5, "of all contestants, in turns")
	crowded := f.Bool("crowd", false, "measure muster alone, with slow clients and large uploads beside the others")
	f.IntVar(&b.hogs, "hogs", 0, "measure beside `N` processes that take a processor each")
	f.IntVar(&b.silent, "silent", 0, "measure all also beside `N` clients that announce 256 KiB and send one byte")
	operations := f.String("operations", "upload,download", "upload, download, or upload alone")
	if err := f.Parse(args); err != nil {
		return err
	}
	if f.NArg() > 0 || !slices.Contains([]string{pageDisk, slowDisk, folderDisk}, b.disk.kind) || !strings.HasPrefix(*operations, "upload") {
		return errors.New("-disk is page, slow or folder, -operations begins with upload, and there are no arguments")
	}
	b.disk.folder = filepath.Join(b.disk.folder, "bench-files") // a folder of its own, because all of it is removed
	b.engines, b.operations = strings.Split(*engines, ","), strings.Split(*operations, ",")
	if b.muster, err = filepath.Abs(b.muster); err != nil {
		return err
	}
	built, err := os.MkdirTemp("", "bench-files-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(built)
	b.plain = filepath.Join(built, "plain")
	if text, err := exec.CommandContext(ctx, "go", "build", "-o", b.plain, "./files/plain").CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w: %s", err, text)
	}
	defer func() { err = errors.Join(err, b.disk.remove(ctx)) }()
	release, err := takeProcessors(ctx, b.hogs)
	if err != nil {
		return err
	}
	defer release()
	if *crowded {
		return b.measureCrowd(ctx)
	}
	return b.measure(ctx)
}
