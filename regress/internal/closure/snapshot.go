package closure

import "strings"

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

// Differs returns the first path whose state differs, "" if none does.
func (s Snapshot) Differs(now Snapshot) (first string) {
	for path, state := range s {
		if now[path] != state && (first == "" || path < first) {
			first = path
		}
	}
	return first
}

// HasExecutables reports whether every executable of the closure is there in a state of its paths.
func (c *Closure) HasExecutables(s Snapshot) bool {
	for f := range c.All() {
		if f.Role == Executable && !isFileState(s[f.Path]) {
			return false
		}
	}
	return true
}
