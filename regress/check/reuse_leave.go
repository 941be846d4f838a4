package check

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"muster/internal/readable"
	"muster/regress/internal/crew"
	"muster/regress/internal/fault"
	"muster/regress/internal/golden"
	"muster/regress/internal/outcome"
	"muster/regress/internal/reuse"
)

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
	var caseNames []string
	for caseName, list := range own {
		if list[0].Run == s.run.Folder.ID {
			caseNames = append(caseNames, caseName)
		}
	}
	if len(caseNames) == 0 {
		return nil
	}
	slices.Sort(caseNames)
	file, err := s.makeStore(ctx, caseNames)
	if err != nil {
		return err
	}
	id := ""
	if info, err := os.Stat(file); err == nil && info.Size() <= storeBytesMax {
		if id, err = s.cache.Send(ctx, file); err != nil {
			return err
		}
	}
	for _, caseName := range caseNames {
		if id == "" {
			delete(own, caseName)
		} else {
			own[caseName][0].Run = id
		}
	}
	return nil
}

// makeStore writes the outcomes of some cases of this run to a file of their own. The store of the run also has
// outcomes that are not shared, and describes the run, with the values of --env.
func (s *sharedChecks) makeStore(ctx context.Context, caseNames []string) (file string, err error) {
	if err := s.makeFolder(); err != nil {
		return "", err
	}
	all, err := golden.Open(s.run.Folder.Outcomes())
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, all.Close()) }()
	file = filepath.Join(s.folder, "own")
	shared, err := golden.Create(file, golden.Meta{})
	if err != nil {
		return "", err
	}
	for _, caseName := range caseNames {
		rec, _, err := all.Get(caseName)
		if err == nil {
			rec.Cost, rec.Origin = outcome.Cost{}, 0
			err = shared.Put(ctx, rec, all.Content)
		}
		if err != nil {
			return "", errors.Join(err, shared.Abort(false))
		}
	}
	return file, shared.Finish()
}
