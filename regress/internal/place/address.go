package place

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"muster/regress"
	"muster/regress/internal/fault"
	"muster/regress/internal/golden"
	"muster/regress/internal/mirror"
	"muster/regress/internal/state"
)

// address is the place of a golden at an address. The golden is read from a copy here.
type address struct {
	name  string
	state *state.State
	there *mirror.Place
	copy  *mirror.Copy // nil if nothing is at the address
}

func findAddress(ctx context.Context, name string, o Options) (Target, error) {
	there, err := mirror.New(name, o.State.Cache(), o.Client)
	if err != nil {
		return nil, err
	}
	a := &address{name: name, state: o.State, there: there}
	if err := a.fetch(ctx); err != nil {
		return nil, err
	}
	return a, nil
}

// fetch makes a copy of what is at the address, if anything is.
func (a *address) fetch(ctx context.Context) error {
	c, err := a.there.Fetch(ctx)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	a.copy = c
	return nil
}

// Open fetches a copy that was damaged here once more.
func (a *address) Open(ctx context.Context) (*golden.Store, error) {
	if a.copy == nil {
		return nil, fault.Inputf("no golden %s: %w", a.name, os.ErrNotExist)
	}
	s, err := golden.Open(a.copy.Path)
	if !a.copy.Fresh && regress.ClassOf(err) == regress.Input {
		a.copy.Drop()
		a.copy = nil
		if err := a.fetch(ctx); err != nil {
			return nil, err
		}
		return a.Open(ctx)
	}
	return s, a.addName(err)
}

// addName adds the address to an error about the copy.
func (a *address) addName(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", a.name, err)
}

// Update changes a copy, which then replaces the golden at the address.
func (a *address) Update(ctx context.Context, do func(*golden.Tx) error) error {
	folder := filepath.Join(a.state.Cache(), "accepting") // the state is locked
	work := filepath.Join(folder, "golden")
	// A journal that a kill left there would be taken for that of the new one.
	err := errors.Join(os.RemoveAll(folder), os.MkdirAll(folder, 0o755))
	defer os.RemoveAll(folder)
	if err == nil {
		err = a.copyTo(work)
	}
	if err != nil {
		return fault.Environmentf("a copy of %s to change: %w", a.name, err)
	}
	if err := golden.Update(work, do); err != nil {
		return err
	}
	err = a.there.Replace(ctx, work, a.copy)
	if errors.Is(err, mirror.ErrChanged) {
		return fault.Inputf("the golden %s was changed by somebody else just now, and nothing of this was accepted: run muster check again, then accept", a.name)
	}
	return err
}

// copyTo copies what is at the address to a file.
func (a *address) copyTo(path string) error {
	if a.copy == nil {
		return os.ErrNotExist
	}
	r, err := os.Open(a.copy.Path)
	if err != nil {
		return err
	}
	defer r.Close()
	w, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = w.ReadFrom(r)
	return errors.Join(err, w.Close())
}

func (a *address) Close() {
	if a.copy != nil {
		a.copy.Close()
	}
}
