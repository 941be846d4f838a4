package check

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"muster/internal/readable"
	"muster/internal/wording"
	"muster/regress"
	"muster/regress/internal/closure"
	"muster/regress/internal/crew"
	"muster/regress/internal/exec"
	"muster/regress/internal/fault"
	"muster/regress/internal/golden"
	"muster/regress/internal/outcome"
	"muster/regress/internal/reuse"
	"muster/regress/internal/run"
)

// Limits of the time that a check gives its cache, in all.
const (
	dialWait   = 5 * time.Second  // connect
	recallWait = 15 * time.Second // receive the entries
	lookWait   = 30 * time.Second // read the files of the listed tools on this machine
	fetchWait  = 30 * time.Second // receive outcomes that the golden lacks
	leaveWait  = 60 * time.Second // leave outcomes and entries
)

// Bounds of what a check takes from a cache and leaves there.
const (
	storesMax     = 16
	storeBytesMax = 256 << 20
	toolBytesMax  = 8 << 30 // of all listed tools
)

// sharedChecks are the checks of all machines that use one cache. The first failure ends its use.
type sharedChecks struct {
	run    *run.Run
	url    string
	cache  *crew.Cache // nil once it failed
	root   reuse.Root
	host   string
	signs  [][]byte     // an outcome with one of these stays on this machine
	hidden atomic.Int64 // number of such outcomes

	setting outcome.Digest
	found   reuse.SharedCases // of this tool, with those for other sources
	folder  string            // of stores that were fetched or are to be sent; "" = none yet
	opened  map[string]bool   // their IDs
}

// dialChecks returns nil if the cache cannot be used, after a warning.
func dialChecks(ctx context.Context, r *run.Run) (*sharedChecks, error) {
	s := &sharedChecks{run: r, url: r.Job.Store.RemoteCache, opened: map[string]bool{}}
	s.host, _ = os.Hostname() // "" is one, too
	here, err := os.Getwd()
	if err != nil {
		return nil, fault.Environmentf("the current folder: %w", fault.Reason(err))
	}
	s.root, s.signs = reuse.Root(here), signsOf(here, s.host)
	limited, end := context.WithTimeout(ctx, dialWait)
	defer end()
	if s.cache, err = run.DialCache(limited, r); err != nil {
		if ctx.Err() != nil || regress.ClassOf(err) == regress.Input {
			return nil, err
		}
		s.fail(err, "every case runs")
		return nil, nil
	}
	return s, nil
}

// signsOf returns the paths of a folder, as given and without links, and the names of a host.
func signsOf(folder, host string) (signs [][]byte) {
	short, _, _ := strings.Cut(host, ".")
	resolved, _ := filepath.EvalSymlinks(folder) // "" is no sign
	for _, sign := range []string{folder, resolved, host, short} {
		if sign != "" && sign != "localhost" {
			signs = append(signs, []byte(sign))
		}
	}
	return signs
}

// fail warns, and ends the use of the cache.
func (s *sharedChecks) fail(err error, effect string) {
	s.close()
	reason := crew.CacheReason(err)
	if reason == "" {
		reason = wording.Of(err)
	}
	s.run.Events.Warn("--remote-cache: " + s.url + " cannot be used, as " + reason + "; " + effect)
}

// recall implements earlier.
func (s *sharedChecks) recall(ctx context.Context, setting map[string]string) (cases map[string]reuse.Case, why string) {
	left := recallWait
	read := func(key outcome.Digest, most int64) ([]byte, error) {
		limited, end := context.WithTimeout(ctx, left)
		defer end()
		began := time.Now()
		defer func() { left -= time.Since(began) }()
		return s.cache.Text(limited, key, most)
	}
	s.setting = reuse.Key(setting)
	text, err := read(s.setting, reuse.CatalogBytesMax)
	why = "the cache has no check with this tool, this command, these settings and these shared files"
	looking, end := context.WithTimeout(ctx, lookWait)
	defer end()
	bytesLeft := int64(toolBytesMax)
	for _, listed := range reuse.ReadCatalog(text).Tools(s.root) {
		if bytesLeft -= sizeOf(&listed); bytesLeft < 0 {
			break // reading them would take too long
		}
		tool := run.LookAgain(looking, s.run.Tool, &listed)
		if tool == nil {
			return nil, "reading the files of the tools that the cache lists takes longer than " + readable.Duration(lookWait)
		}
		var key outcome.Digest
		if key, err = s.root.ToolKey(s.setting, tool); err == nil {
			text, err = read(key, reuse.CasesBytesMax)
		}
		if err != nil {
			break
		}
		if text == nil {
			continue
		}
		if unknown := s.run.Tool.Recall(tool); unknown != "" {
			why = unknown
			continue
		}
		s.found, cases = reuse.ReadShared(text), map[string]reuse.Case{}
		for _, e := range s.run.Inputs.Corpus.Cases() {
			if c, known := s.found.Of(e.Name, s.run.Inputs.Digests.Case(e.Name)); known {
				cases[e.Name] = c
			}
		}
		return cases, ""
	}
	if err != nil {
		s.fail(err, "every case runs")
		return nil, ""
	}
	return nil, why
}

// sizeOf returns the bytes of the files of a tool that was listed elsewhere.
func sizeOf(tool *closure.Closure) (n int64) {
	for _, f := range tool.Files {
		if info, err := os.Stat(f.Path); err == nil {
			n += info.Size()
		}
	}
	return n
}

// open implements earlier.
func (s *sharedChecks) open(ctx context.Context, cases map[string]reuse.Case) (map[string]*golden.Store, error) {
	stores := map[string]*golden.Store{}
	tried := map[string]bool{"": true}
	ctx, end := context.WithTimeout(ctx, fetchWait)
	defer end()
	for _, c := range cases {
		if tried[c.Run] || s.cache == nil || len(tried) > storesMax {
			continue
		}
		tried[c.Run] = true
		if err := s.makeFolder(); err != nil {
			return nil, err
		}
		file := filepath.Join(s.folder, strconv.Itoa(len(tried)))
		fetched, err := s.cache.Fetch(ctx, c.Run, file, storeBytesMax)
		if err != nil {
			s.fail(err, "cases whose outcome is not that of the golden run")
		}
		if !fetched {
			continue
		}
		if store, err := golden.Open(file); err == nil { // else its cases run
			stores[c.Run], s.opened[c.Run] = store, true
		}
	}
	return stores, nil
}

// makeFolder makes the folder for stores. It first removes that of a check that was killed.
func (s *sharedChecks) makeFolder() error {
	if s.folder != "" {
		return nil
	}
	folder := filepath.Join(s.run.State.Cache(), "remote-cache")
	_ = os.RemoveAll(folder) // else it cannot be made
	if err := os.MkdirAll(s.run.State.Cache(), 0o755); err != nil {
		return fault.Environmentf("%s: %w", s.run.State.Cache(), fault.Reason(err))
	}
	if err := os.Mkdir(folder, 0o700); err != nil {
		return fault.Environmentf("%s: %w", folder, fault.Reason(err))
	}
	s.folder = folder
	return nil
}

// hides implements earlier. An outcome with the name of this machine, or the place of its checkout, is not
// that of another machine.
func (s *sharedChecks) hides(r *exec.Result) bool {
	for _, p := range r.Outcome.Parts {
		if slices.ContainsFunc(s.signs, func(sign []byte) bool { return strings.Contains("/"+p.Path, string(sign)) }) {
			s.hidden.Add(1)
			return true
		}
	}
	for _, p := range r.Outcome.Parts {
		if !golden.HasContent(p) {
			continue
		}
		content, err := r.Open(p)
		if err == nil {
			var has bool
			has, err = hasAny(content, p.Size, s.signs)
			if err = errors.Join(err, content.Close()); err == nil && !has {
				continue
			}
		}
		s.hidden.Add(1)
		return true // also what cannot be read
	}
	return false
}

// hasAny reports whether a content of some bytes has one of several signs.
func hasAny(content io.Reader, size int64, signs [][]byte) (bool, error) {
	longest := 0
	for _, sign := range signs {
		longest = max(longest, len(sign))
	}
	buffer, kept := make([]byte, longest+int(min(size, 64<<10))+1), 0
	for {
		n, err := io.ReadFull(content, buffer[kept:])
		text := buffer[:kept+n]
		for _, sign := range signs {
			if bytes.Contains(text, sign) {
				return true, nil
			}
		}
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		kept = copy(buffer, text[len(text)-longest:])
	}
}

// drop implements earlier. The entries of others stay.
func (s *sharedChecks) drop() error { return nil }

// close implements earlier.
func (s *sharedChecks) close() {
	if s.cache != nil {
		s.cache.Close()
		s.cache = nil
	}
	if s.folder != "" {
		_ = os.RemoveAll(s.folder) // a folder that stays takes space, and nothing else
	}
}
