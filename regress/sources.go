package regress

// Sources counts the sources and shared files of a corpus that changed since the
// golden was recorded.
type Sources struct {
	Known   int `line:"known"`   // selected cases whose recorded source the golden has
	Changed int `line:"changed"` // cases among them with another source now

	Shared        int `line:"shared"` // files given to every case, then or now
	SharedChanged int `line:"shared_changed"`
	SharedAdded   int `line:"shared_added"`
	SharedRemoved int `line:"shared_removed"`

	// Names and SharedNames are the first changed ones, as raw bytes.
	Names       []string `line:"names,name,omitempty"`
	SharedNames []string `line:"shared_names,name,omitempty"`
}

// SharedDiffering counts the shared files that are not the recorded ones.
func (s Sources) SharedDiffering() int { return s.SharedChanged + s.SharedAdded + s.SharedRemoved }
