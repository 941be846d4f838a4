// Command goport is what one writes first: unpack the archive, then a channel,
// a few goroutines and os/exec. It keeps the output of every command and
// compares nothing. It is a rival in the benchmarks.
package main

import (
	"archive/tar"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

func main() {
	jobs := flag.Int("jobs", 2, "commands at once")
	dir := flag.String("dir", "", "folder to unpack to")
	flag.Parse()
	if flag.NArg() < 2 || *dir == "" {
		log.Fatal("usage: goport -dir DIR ARCHIVE COMMAND... (IN and OUT are replaced)")
	}
	cases, err := unpack(flag.Arg(0), *dir)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(runAll(*dir, cases, *jobs, flag.Args()[1:]), "failed")
}

// unpack writes the archive's files and returns the names of those that are no
// headers.
func unpack(path, dir string) (cases []string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for r := tar.NewReader(f); ; {
		h, err := r.Next()
		if err == io.EOF {
			return cases, nil
		}
		if err != nil {
			return nil, err
		}
		text, err := io.ReadAll(r)
		if err != nil {
			return nil, err
		}
		out := filepath.Join(dir, h.Name)
		if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
			return nil, err
		}
		if err := os.WriteFile(out, text, 0o644); err != nil {
			return nil, err
		}
		if !strings.HasPrefix(filepath.Base(h.Name), "HDR_") {
			cases = append(cases, h.Name)
		}
	}
}

func runAll(dir string, cases []string, jobs int, command []string) (failed int) {
	names := make(chan string)
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range jobs {
		wg.Go(func() {
			for name := range names {
				args := make([]string, len(command))
				for i, a := range command {
					args[i] = strings.NewReplacer("IN", name, "OUT", name+".o").Replace(a)
				}
				cmd := exec.Command(args[0], args[1:]...)
				cmd.Dir = dir
				if _, err := cmd.CombinedOutput(); err != nil {
					mu.Lock()
					failed++
					mu.Unlock()
				}
			}
		})
	}
	for _, name := range cases {
		names <- name
	}
	close(names)
	wg.Wait()
	return failed
}
