package closure

import (
	"context"
	"strings"
	"time"
)

// A Snapshot is the state of what a tool uses, by path. It lacks the names in listed folders, where other
// programs may write, and what the tool itself only writes.
type Snapshot map[string]string

// Snapshot returns the state that the closure has.
func (c *Closure) Snapshot() Snapshot {
	s := Snapshot{}
	for f := range c.All() {
		s[f.Path] = f.Stamp
	}
	for _, p := range c.places() {
		if p.IsWritten {
			continue
		}
		s[p.Path] = p.State
		if _, isListed := namesOf(p.State); isListed {
			_, link, _ := strings.Cut(p.State+", ", ", ")
			s[p.Path] = strings.TrimSuffix(folder+", "+link, ", ")
		}
	}
	return s
}

// Look returns the present state of the same paths.
func (s Snapshot) Look() Snapshot {
	now := make(Snapshot, len(s))
	for path := range s {
		now[path] = Own(nil).StateOf(path, false)
	}
	return now
}

// Settle waits until the paths have not changed for a time, from now or from a later change, and all
// executables of c are there. It returns their state. pause waits between two looks; took is the duration of the
// last one.
func (s Snapshot) Settle(ctx context.Context, c *Closure, quiet time.Duration, pause func(ctx context.Context, took time.Duration) error) (Snapshot, error) {
	for since := time.Now(); ; {
		began := time.Now()
		now := s.Look()
		if s.Differs(now) != "" {
			s, since = now, began
		} else if began.Sub(since) >= quiet && !c.lacksExecutable(now) {
			return now, nil
		}
		if err := pause(ctx, time.Since(began)); err != nil {
			return nil, err
		}
	}
}

// Differs returns the first path whose state differs, "" if none does.
func (s Snapshot) Differs(now Snapshot) (first string) {
	for path, state := range s {
		if now[path] != state && (first == "" || path < first) {
			first = path
		}
	}
	return first
}

// lacksExecutable reports whether an executable of a command is not there in a state of its paths.
func (c *Closure) lacksExecutable(s Snapshot) bool {
	for f := range c.All() {
		if f.Role == Executable && !isFileState(s[f.Path]) {
			return true
		}
	}
	return false
}
