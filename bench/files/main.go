// Command files measures muster serve beside nginx and a plain program with net/http, all
// under the same load of muster load, and prints Markdown: medians, threads, and ratios of
// each round.
//
//	go run ./files -muster ../bin/muster -row all
//	go run ./files -muster ../bin/muster -row get-50k,slow
//	go run ./files -muster ../bin/muster -row bucket
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
	"strings"
	"syscall"
	"time"
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
	muster        string
	plain, client string // built here
	cache         string // of test tools, with the object store
	engines       []string
	sync          string
	threads       int
	folder        string
	diskSize      string

	load
	rounds     int
	operations []string
	chosen     []contestant // nil = all file services

	out io.Writer
}

// A load is the requests that every contestant gets, and its disk.
type load struct {
	disk                  string // page, slow or folder
	connections, requests int
	size                  string
	duration              time.Duration // of downloads; 0 = each file once
	silent, hogs          int
}

func (l load) String() string {
	text := fmt.Sprintf("%d connections, %s, %s", l.connections, l.size, diskNames[l.disk])
	if l.hogs > 0 {
		text += fmt.Sprintf(", %d busy processors", l.hogs)
	}
	return text
}

func run(ctx context.Context, args []string, out io.Writer) (err error) {
	b := &bench{out: out}
	f := flag.NewFlagSet("files", flag.ContinueOnError)
	f.StringVar(&b.muster, "muster", "../bin/muster", "the `program`")
	engines := f.String("engines", "pool,cthreads,uring,direct", "of muster; pool:34 has GOMAXPROCS=34, pool=FILE is of another program")
	home, _ := os.UserCacheDir() // without one, -cache is needed
	f.StringVar(&b.cache, "cache", filepath.Join(home, "muster-test"), "of test tools, in which scripts/object-stores installs an object store for the rows of a bucket")
	f.StringVar(&b.sync, "sync", "none", "of muster: none, group or fdatasync")
	f.IntVar(&b.threads, "threads", 32, "of muster, for files")
	f.StringVar(&b.disk, "disk", pageDisk, "page (in memory), slow (in memory, but it blocks), both need root; or folder (whatever that is on)")
	f.StringVar(&b.diskSize, "disk-size", "2G", "of the disk in memory")
	f.StringVar(&b.folder, "folder", os.TempDir(), "where a folder is made for the files, and removed")
	f.IntVar(&b.connections, "connections", 500, "at a time")
	f.IntVar(&b.requests, "requests", 20_000, "of one run")
	f.StringVar(&b.size, "size", "50K", "bytes of a file")
	f.IntVar(&b.rounds, "rounds", 5, "of all contestants, in turns")
	names := f.String("row", "", "measure the `ROWS` of the goals, such as all, bucket or get-50k,slow, whatever the other flags say of the load")
	f.DurationVar(&b.duration, "duration", 0, "of downloads, which read the files again and again; 0 = once")
	crowded := f.Bool("crowd", false, "measure muster alone, with slow clients and large uploads beside the others")
	f.IntVar(&b.hogs, "hogs", 0, "measure beside `N` processes that take a processor each")
	f.IntVar(&b.silent, "silent", 0, "measure all also beside `N` clients that announce 256 KiB and send one byte")
	operations := f.String("operations", "upload,download", "upload, download, or upload alone")
	if err := f.Parse(args); err != nil {
		return err
	}
	if f.NArg() > 0 || diskNames[b.disk] == "" || !strings.HasPrefix(*operations, "upload") {
		return errors.New("-disk is page, slow or folder, -operations begins with upload, and there are no arguments")
	}
	b.folder = filepath.Join(b.folder, "bench-files") // a folder of its own, because all of it is removed
	b.engines, b.operations = strings.Split(*engines, ","), strings.Split(*operations, ",")
	if b.muster, err = filepath.Abs(b.muster); err != nil {
		return err
	}
	built, err := os.MkdirTemp("", "bench-files-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(built)
	b.plain, b.client = filepath.Join(built, "plain"), filepath.Join(built, "client")
	if text, err := exec.CommandContext(ctx, "go", "build", "-o", built, "./files/plain", "./files/client").CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w: %s", err, text)
	}
	switch {
	case *names != "":
		return b.measureGoals(ctx, *names)
	case *crowded:
		return b.measureCrowd(ctx)
	}
	all, err := b.measure(ctx)
	if err == nil {
		b.print(all)
	}
	return err
}
