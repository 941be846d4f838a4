// Package state keeps the folder .muster: past runs, the lock that a writing run holds, the
// cache, reduced sources, and goldens that wait for their upload.
//
// The folder of a run has run.json (its options and how it ended) and results.json (a verdict
// for each case that was not identical). For --resume it has cases.jsonl (a line for each
// finished case). It also has causes.json, decisions.json and the stores of outcomes. Each file has
// a digest, or one for each line.
//
// Values of these files go in and out. Callers encode options and summaries themselves: state
// must not know the meaning of a run's options.
package state

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"muster/internal/readable"
	"muster/regress/internal/fault"
)

// runsMax is how many past runs are kept.
const runsMax = 20

// drawsMax bounds how often newRun draws an ID.
const drawsMax = 100

// State is an open state folder.
type State struct{ dir string }

// Open returns the state in dir. The folder need not exist yet.
func Open(dir string) *State { return &State{dir} }

// Cache returns the folder for files that can be made again.
func (s *State) Cache() string { return filepath.Join(s.dir, "cache") }

// Recorded returns the folder for goldens that were recorded for an address and are not there
// yet.
func (s *State) Recorded() string { return filepath.Join(s.dir, "recorded") }

// Reduced returns the folder for the reduced sources of a run. It is removed with the run.
func (s *State) Reduced(run string) string { return filepath.Join(s.dir, "reduced", run) }

func (s *State) runs() string { return filepath.Join(s.dir, "runs") }

// Info is the content of run.json.
type Info struct {
	Version  int               `json:"version"`
	ID       string            `json:"id"`
	Number   int               `json:"number"` // one more than any earlier run here
	Command  string            `json:"command"`
	Started  time.Time         `json:"started"`
	Finished bool              `json:"finished"`
	Identity map[string]string `json:"identity"` // must be equal to resume the run
	Golden   string            `json:"golden"`   // digest of the golden that the run compared with
	Options  json.RawMessage   `json:"options,omitempty"`
	Summary  json.RawMessage   `json:"summary,omitempty"`
	Journal  int64             `json:"journal,omitempty"` // bytes of cases.jsonl when it was closed
}

// Run is one run's folder.
type Run struct {
	Info
	dir string
}

// File returns the path of a file of the run.
func (r *Run) File(name string) string { return filepath.Join(r.dir, name) }

// Outcomes returns the path of the store that has the outcomes of cases that were not
// identical.
func (r *Run) Outcomes() string { return r.File("outcomes.golden") }

// References returns the path of the store that has the outcomes of the reference, in a run
// without a golden.
func (r *Run) References() string { return r.File("references.golden") }

// NewRun makes the folder of a new run and removes the oldest beyond runsMax.
// The state must be locked.
func (s *State) NewRun(info Info) (*Run, error) {
	return s.newRun(info, func() string {
		var random [2]byte
		_, _ = rand.Read(random[:]) // it never fails
		return hex.EncodeToString(random[:])
	})
}

// newRun makes a run whose ID ends with the result of draw. It draws again while a run of the
// same second has that ID, since both would write the same journal.
func (s *State) newRun(info Info, draw func() string) (*Run, error) {
	runs, err := s.Runs()
	if err != nil {
		return nil, err
	}
	for _, r := range runs {
		info.Number = max(info.Number, r.Number)
	}
	info.Number++
	info.Version = version
	if err := os.MkdirAll(s.runs(), 0o755); err != nil {
		return nil, fault.Environmentf("state folder: %w", err)
	}
	var r *Run
	for range drawsMax {
		info.ID = info.Started.UTC().Format(idTime) + draw()
		r = &Run{info, filepath.Join(s.runs(), info.ID)}
		if err = os.Mkdir(r.dir, 0o755); !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	if err != nil {
		return nil, fault.Environmentf("state folder: %w", err)
	}
	if err := r.Save(); err != nil {
		return nil, errors.Join(err, r.Remove())
	}
	return r, s.prune(r.ID)
}

// Remove removes the run and its reduced sources. The state must be locked.
func (r *Run) Remove() error {
	reduced := Open(filepath.Dir(filepath.Dir(r.dir))).Reduced(r.ID)
	if err := errors.Join(os.RemoveAll(reduced), os.RemoveAll(r.dir)); err != nil {
		return fault.Environmentf("remove run %s: %w", r.ID, err)
	}
	return nil
}

// Save writes run.json atomically.
func (r *Run) Save() error {
	text, err := json.MarshalIndent(r.Info, "", "  ")
	if err != nil {
		return fault.Environmentf("state of run %s: %w", r.ID, err)
	}
	return replace(r.ID, r.File("run.json"), text)
}

// prune removes the oldest runs and their reduced sources. It keeps current, which has just
// begun. For each command it also keeps the newest other unfinished run, which may be resumed.
func (s *State) prune(current string) error {
	if err := s.removeNoRuns(); err != nil {
		return err
	}
	runs, err := s.Runs()
	if err != nil {
		return err
	}
	unfinished := map[string]*Run{} // newest unfinished run, by command
	for _, r := range runs {
		if !r.Finished && r.ID != current {
			unfinished[r.Command] = r
		}
	}
	excess := len(runs) - runsMax
	for _, r := range runs {
		if excess <= 0 {
			break
		}
		if r.ID == current || r == unfinished[r.Command] {
			continue
		}
		if err := r.Remove(); err != nil {
			return err
		}
		excess--
	}
	return nil
}

// removeNoRuns removes folders of runs that were killed while they were made or removed: run.json is
// written first, and removed with the rest. It also removes those whose run.json is damaged, because
// the new run takes their place. It removes only folders whose names are IDs of runs, and no copies.
func (s *State) removeNoRuns() error {
	entries, err := os.ReadDir(s.runs())
	if err != nil {
		return fault.Environmentf("state folder: %w", err)
	}
	for _, e := range entries {
		r := &Run{Info{ID: e.Name()}, filepath.Join(s.runs(), e.Name())}
		if !e.IsDir() || !isID(r.ID) {
			continue
		}
		if _, err := os.Lstat(r.File("run.json")); !errors.Is(err, os.ErrNotExist) {
			if _, err := load(s.runs(), r.ID); !errors.Is(err, errDamaged) {
				continue
			}
		}
		if err := r.Remove(); err != nil {
			return err
		}
	}
	return nil
}

// idTime is the layout of the time at the start of a run's ID.
const idTime = "20060102-150405-"

func isID(name string) bool {
	if len(name) <= len(idTime) {
		return false
	}
	_, err := time.Parse(idTime, name[:len(idTime)])
	return err == nil
}

// Runs returns all runs, oldest first, even if the clock was set back between them. It skips
// folders that are no run, and runs that cannot be read.
func (s *State) Runs() ([]*Run, error) {
	runs, _, err := s.scan()
	return runs, err
}

// unreadable is a run that cannot be read.
type unreadable struct {
	id  string
	err error
}

// scan returns the runs like Runs, and those that cannot be read.
func (s *State) scan() (runs []*Run, lost []unreadable, err error) {
	entries, err := os.ReadDir(s.runs())
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, nil, fault.Environmentf("state folder: %w", err)
	}
	for _, e := range entries {
		if !e.IsDir() || !isID(e.Name()) {
			continue
		}
		r, err := load(s.runs(), e.Name())
		switch {
		case err == nil:
			runs = append(runs, r)
		case !errors.Is(err, errNoRun):
			lost = append(lost, unreadable{e.Name(), err})
		}
	}
	slices.SortStableFunc(runs, func(a, b *Run) int {
		return cmp.Or(cmp.Compare(a.Number, b.Number), a.Started.Compare(b.Started))
	})
	return runs, lost, nil
}

// List returns the runs like Runs, and the errors of those that cannot be read.
func List(s *State) (runs []*Run, unreadable, err error) {
	runs, lost, err := s.scan()
	for _, l := range lost {
		unreadable = errors.Join(unreadable, l.err)
	}
	return runs, unreadable, err
}

var (
	errNoRun   = errors.New("not a run")
	errDamaged = errors.New("is damaged, as after a power loss")
)

// load reads run.json. The error is errNoRun for a folder without one, or with that of another run: a
// run that was killed at its start, or a copy.
func load(runs, id string) (*Run, error) {
	r := &Run{dir: filepath.Join(runs, id)}
	text, err := os.ReadFile(r.File("run.json"))
	if errors.Is(err, os.ErrNotExist) {
		return nil, errNoRun
	}
	if err != nil {
		return nil, fault.Environmentf("state folder: %w", err)
	}
	content, whole := unseal(labelOf(id, "run.json"), text)
	expected := version
	if !whole {
		content, expected = text, unsealedVersion
	}
	err = json.Unmarshal(content, &r.Info)
	switch {
	case r.Version > version:
		return nil, fault.Inputf("%s was made by a newer muster: use that one, or name another run", r.File("run.json"))
	case err != nil || r.Version != expected:
		return nil, fault.Inputf("run %s cannot be used: %s %w: run the check again, or name another run", id, r.File("run.json"), errDamaged)
	case r.ID != id:
		return nil, errNoRun
	}
	return r, nil
}

// lostAfter returns the error of a run that cannot be read and is later than the one with an ID.
func lostAfter(lost []unreadable, id string) error {
	for _, l := range lost {
		if l.id > id {
			return l.err
		}
	}
	return nil
}

// Last returns the last run that accept reports true for. If there is none, the error names
// wanted: the kind of run, and the command that makes one. A later run that cannot be read is an
// error, because it may be the one that is wanted.
func (s *State) Last(accept func(*Run) bool, wanted string) (*Run, error) {
	runs, lost, err := s.scan()
	if err != nil {
		return nil, err
	}
	for _, r := range slices.Backward(runs) {
		if accept(r) {
			return r, lostAfter(lost, r.ID)
		}
	}
	if err := lostAfter(lost, ""); err != nil {
		return nil, err
	}
	return nil, fault.Inputf("%s has no %s", s.dir, wanted)
}

// Find returns the run whose ID begins with prefix.
func (s *State) Find(prefix string) (*Run, error) {
	runs, lost, err := s.scan()
	if err != nil {
		return nil, err
	}
	var found []*Run
	for _, r := range runs {
		if strings.HasPrefix(r.ID, prefix) {
			found = append(found, r)
		}
	}
	for _, l := range lost {
		if len(found) == 0 && strings.HasPrefix(l.id, prefix) {
			return nil, l.err
		}
	}
	switch len(found) {
	case 0:
		return nil, fault.Inputf("no run %s in %s: muster runs lists them", prefix, s.dir)
	case 1:
		return found[0], nil
	}
	return nil, fault.Inputf("%s begins the IDs of %s: give more of it", prefix, readable.Count(len(found), "run"))
}

// Unfinished returns the last run of a command if that run did not finish, else nil. A later run
// that cannot be read is an error.
func (s *State) Unfinished(command string) (*Run, error) {
	runs, lost, err := s.scan()
	if err != nil {
		return nil, err
	}
	for _, r := range slices.Backward(runs) {
		if r.Command == command {
			err = lostAfter(lost, r.ID)
			if r.Finished {
				return nil, err
			}
			return r, err
		}
	}
	return nil, lostAfter(lost, "")
}
