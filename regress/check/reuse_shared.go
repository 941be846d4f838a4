package check

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
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

// How long a check waits for its cache in all: to connect, for the entries, for the outcomes of cases that
// are not those of the golden, and to leave its own.
const (
	dialWait   = 5 * time.Second
	recallWait = 15 * time.Second
	fetchWait  = 30 * time.Second
	leaveWait  = 60 * time.Second
)

// Bounds of what a check takes from a cache and leaves there.
const (
	storesMax     = 16
	storeBytesMax = 256 << 20
	toolBytesMax  = 8 << 30
)

// sharedChecks are the checks of all machines that use one cache. The first failure ends its use.
type sharedChecks struct {
	run    *run.Run
	url    string
	cache  *crew.Cache // nil once it failed
	root   reuse.Root
	host   string
	hidden atomic.Int64 // outcomes

	setting outcome.Digest
	found   reuse.SharedCases // of this tool, with those for other sources
	folder  string            // of fetched stores
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
	s.root = reuse.Root(here)
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
	ctx, end := context.WithTimeout(ctx, recallWait)
	defer end()
	s.setting = reuse.Key(setting)
	text, err := s.cache.Text(ctx, s.setting, reuse.CatalogBytesMax)
	why = "the cache has no check with this tool, this command, these settings and these shared files"
	for _, listed := range reuse.ReadCatalog(text).Tools(s.root) {
		if sizeOf(&listed) > toolBytesMax {
			continue // reading it would take too long
		}
		tool := run.LookAgain(s.run.Tool, &listed)
		var key outcome.Digest
		if key, err = s.root.ToolKey(s.setting, tool); err == nil {
			text, err = s.cache.Text(ctx, key, reuse.CasesBytesMax)
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
		if s.folder == "" {
			var err error
			if s.folder, err = os.MkdirTemp(s.run.State.Cache(), "remote-"); err != nil {
				return nil, fault.Environmentf("%s: %w", s.run.State.Cache(), fault.Reason(err))
			}
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

// hides implements earlier. An outcome with the name of this machine, or the place of its checkout, is not
// that of another machine.
func (s *sharedChecks) hides(r *exec.Result) bool {
	signs := [][]byte{[]byte(s.root)}
	if s.host != "" && s.host != "localhost" {
		signs = append(signs, []byte(s.host))
	}
	for _, p := range r.Outcome.Parts {
		if !golden.HasContent(p) {
			continue
		}
		content, err := r.Open(p)
		if err == nil {
			var has bool
			has, err = hasAny(content, p.Size, signs)
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

// leave implements earlier.
func (s *sharedChecks) leave(ctx context.Context, cases map[string]reuse.Case, distrust bool) error {
	if n := s.hidden.Load(); n > 0 {
		s.run.Events.Note("--remote-cache: the outcomes of " + readable.Cases(int(n)) + " have the name of this machine or the path of this folder, and are not shared")
	}
	if s.cache == nil || s.cache.IsReadOnly() {
		return nil
	}
	ctx, end := context.WithTimeout(ctx, leaveWait)
	defer end()
	own, fresh := s.merge(cases, distrust)
	if !fresh {
		return nil
	}
	err := s.send(ctx, own, distrust)
	if err == nil || crew.IsCacheRefusal(err) { // with a token that only reads
		return nil
	}
	s.fail(err, "later checks cannot reuse this one")
	return nil
}

// merge returns the entries that this check leaves, and whether one of them is new. Outcomes that the cache
// has already stay where they are.
func (s *sharedChecks) merge(cases map[string]reuse.Case, distrust bool) (own reuse.SharedCases, fresh bool) {
	own = reuse.SharedCases{}
	for caseName, c := range cases {
		was, known := s.found.Of(caseName, c.Source)
		isThere := c.Run != s.run.Folder.ID || s.opened[was.Run]
		if known && !distrust && was.Outcome == c.Outcome && was.Runs >= c.Runs && isThere {
			c = was
		} else {
			fresh = true
			c.Maker = s.host
		}
		own[caseName] = []reuse.Case{c}
	}
	return own, fresh
}

// send leaves the outcomes, then the entries, and then the tool, so that whatever is found is complete.
func (s *sharedChecks) send(ctx context.Context, own reuse.SharedCases, distrust bool) error {
	if err := s.sendStore(ctx, own); err != nil {
		return err
	}
	tool := s.run.Tool.Closure()
	key, err := s.root.ToolKey(s.setting, tool)
	if err != nil {
		return err
	}
	text, err := s.cache.Text(ctx, key, reuse.CasesBytesMax)
	if err != nil {
		return err
	}
	older := reuse.ReadShared(text)
	if distrust {
		older = nil
	}
	if text, err = own.Encode(older); err == nil && len(text) > reuse.CasesBytesMax {
		text, err = own.Encode(nil)
	}
	if err == nil && len(text) > reuse.CasesBytesMax {
		err = fault.Environmentf("the entries of its cases are larger than %s", readable.Size(reuse.CasesBytesMax))
	}
	if err == nil {
		err = s.cache.SetText(ctx, key, text, s.host)
	}
	if err != nil {
		return err
	}
	if text, err = s.cache.Text(ctx, s.setting, reuse.CatalogBytesMax); err != nil {
		return err
	}
	listed, err := reuse.ReadCatalog(text).With(tool, s.root)
	if err != nil || bytes.Equal(text, listed) {
		return err
	}
	return s.cache.SetText(ctx, s.setting, listed, s.host)
}

// sendStore leaves the outcomes of this run that are not those of the golden, and names them in their
// entries. If they are too large, these entries go.
func (s *sharedChecks) sendStore(ctx context.Context, own reuse.SharedCases) error {
	id := ""
	for caseName, list := range own {
		c := list[0]
		if c.Run != s.run.Folder.ID {
			continue
		}
		if id == "" {
			file := s.run.Folder.Outcomes()
			info, err := os.Stat(file)
			if err != nil || info.Size() > storeBytesMax {
				id = "none"
			} else if id, err = s.cache.Send(ctx, file); err != nil {
				return err
			}
		}
		if c.Run = id; id == "none" {
			delete(own, caseName)
		} else {
			own[caseName] = []reuse.Case{c}
		}
	}
	return nil
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
