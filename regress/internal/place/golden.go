package place

import (
	"context"
	"errors"
	"os"

	"muster/regress"
	"muster/regress/internal/fault"
	"muster/regress/internal/golden"
)

// A Golden is open for reading.
type Golden struct {
	*golden.Store
	at Place
}

// Close closes the golden and its place.
func (g *Golden) Close() error {
	defer g.at.Close()
	return g.Store.Close()
}

// NewGolden returns a Golden of a store that has no place of its own.
func NewGolden(s *golden.Store) *Golden { return &Golden{s, file{}} }

// Open opens the golden of that name for reading. The error is os.ErrNotExist if it does not
// exist.
func Open(ctx context.Context, name string, o Options) (*Golden, error) {
	at, err := Find(ctx, name, o)
	if err != nil {
		return nil, err
	}
	s, err := at.Open(ctx)
	if err != nil {
		at.Close()
		return nil, err
	}
	return &Golden{s, at}, nil
}

// OpenIfAny is like Open. It returns nil if name is empty, or the golden does not exist.
func OpenIfAny(ctx context.Context, name string, o Options) (*Golden, error) {
	if name == "" {
		return nil, nil
	}
	g, err := Open(ctx, name, o)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return g, err
}

// ExplainMissing explains an error of Open if it says that the golden does not exist. It returns other
// errors as they are.
func ExplainMissing(name string, err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return fault.Inputf("no golden %s: make one with muster record, or name it with --golden", name)
	}
	return err
}

// ExplainUnfinished is like ExplainMissing, and reports a record of the golden that is at work or did
// not finish.
func (o Options) ExplainUnfinished(name string, err error) error {
	if !errors.Is(err, os.ErrNotExist) {
		return err
	}
	last, e := o.State.Unfinished(regress.RecordCommand)
	if e != nil || last == nil || last.Identity["--golden"] != name {
		return ExplainMissing(name, err)
	}
	if who, busy := o.State.AtWork(); busy {
		return fault.Inputf("no golden %s yet: record %s has not finished, and muster%s is at work: wait for it", name, last.ID, who)
	}
	return fault.Inputf("no golden %s yet: record %s did not finish: repeat the same muster record, with --resume to keep its finished cases", name, last.ID)
}

// Recorded returns what the golden of a name knows about its record. It returns nil if there is
// no golden, or the name is "".
func Recorded(ctx context.Context, called string, o Options) (*golden.Meta, error) {
	base, err := OpenIfAny(ctx, called, o)
	if err != nil || base == nil {
		return nil, err
	}
	m := base.Meta()
	return &m, base.Close()
}
