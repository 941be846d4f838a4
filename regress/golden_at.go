package regress

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"muster/regress/internal/fault"
	"muster/regress/internal/golden"
	"muster/regress/internal/mirror"
	"muster/regress/internal/state"
)

// located is a golden as --golden names it: a file, or what is at an address, of which there
// is a copy here. Whatever it is, it is read from a file; one at an address is written as a
// file that then takes its place there, if nobody else's has.
type located struct {
	name  string        // as it was given
	file  string        // to be read; "" where nothing is at the address
	state *state.State  // has the copies
	away  *mirror.Place // nil for a file
	copy  *mirror.Copy  // nil for a file, and where nothing is at the address
}

// locate finds a golden. That there is none is no error yet.
func (o *Options) locate(ctx context.Context, name string) (*located, error) {
	g := &located{name: name, file: name, state: state.Open(o.Store.State)}
	if !mirror.IsAddress(name) {
		return g, nil
	}
	var err error
	if g.away, err = mirror.New(name, g.state.Cache(), o.Files); err != nil {
		return nil, err
	}
	return g, g.fetch(ctx)
}

func (g *located) fetch(ctx context.Context) (err error) {
	g.file = ""
	if g.copy, err = g.away.Fetch(ctx); err == nil {
		g.file = g.copy.Path
	}
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// close lets go of the copy.
func (g *located) close() {
	if g.copy != nil {
		g.copy.Close()
	}
}

// open opens the golden for reading. A copy that was damaged here is fetched once more.
func (g *located) open(ctx context.Context) (*golden.Store, error) {
	if g.away != nil && g.copy == nil {
		return nil, fault.Inputf("no golden %s: %w", g.name, os.ErrNotExist)
	}
	s, err := golden.Open(g.file)
	if g.copy != nil && !g.copy.Fresh && fault.ClassOf(err) == fault.Input {
		g.copy.Drop()
		g.copy = nil
		if err := g.fetch(ctx); err != nil {
			return nil, err
		}
		return g.open(ctx)
	}
	return s, g.about(err)
}

// about names the address in an error about a copy.
func (g *located) about(err error) error {
	if err == nil || g.copy == nil {
		return err
	}
	return fmt.Errorf("%s: %w", g.name, err)
}

// openedGolden is a golden that is open for reading.
type openedGolden struct {
	*golden.Store
	at *located
}

// Close gives up the file, and the copy.
func (g *openedGolden) Close() error {
	defer g.at.close()
	return g.Store.Close()
}

// openGolden opens the golden of that name for reading. Where there is none the error is
// os.ErrNotExist.
func (o *Options) openGolden(ctx context.Context, name string) (*openedGolden, error) {
	at, err := o.locate(ctx, name)
	if err != nil {
		return nil, err
	}
	s, err := at.open(ctx)
	if err != nil {
		at.close()
		return nil, err
	}
	return &openedGolden{s, at}, nil
}

// update changes the golden in one transaction: in place, or in a copy that then takes the
// place of what is at the address, if that is still what was located.
func (g *located) update(ctx context.Context, do func(*golden.Tx) error) error {
	if g.away == nil {
		return golden.Update(g.file, do)
	}
	folder := filepath.Join(g.state.Cache(), "accepting") // the state is locked
	work := filepath.Join(folder, "golden")
	// A journal that a kill left there would be taken for that of the new one.
	err := errors.Join(os.RemoveAll(folder), os.MkdirAll(folder, 0o755))
	defer os.RemoveAll(folder)
	if err == nil {
		err = copyFile(work, g.file)
	}
	if err != nil {
		return fault.Environmentf("a copy of %s to change: %w", g.name, err)
	}
	if err := golden.Update(work, do); err != nil {
		return err
	}
	err = g.away.Replace(ctx, work, g.copy)
	if errors.Is(err, mirror.ErrChanged) {
		return fault.Inputf("the golden %s was changed by somebody else just now, and nothing of this was accepted: run muster check again, then accept", g.name)
	}
	return err
}

func copyFile(to, from string) error {
	r, err := os.Open(from)
	if err != nil {
		return err
	}
	defer r.Close()
	w, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = w.ReadFrom(r)
	return errors.Join(err, w.Close())
}
