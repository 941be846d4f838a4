package place

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"muster/regress/internal/fault"
	"muster/regress/internal/golden"
	"muster/regress/internal/mirror"
)

func (a *address) Path() string {
	return filepath.Join(a.state.Recorded(), a.there.Key()+".golden")
}

func (a *address) InState() bool { return true }

func (a *address) prepare() error {
	if err := a.there.Replaceable(a.copy); err != nil {
		return err
	}
	if err := os.MkdirAll(a.state.Recorded(), 0o755); err != nil {
		return fault.Environmentf("state folder: %w", err)
	}
	if a.copy == nil {
		return nil
	}
	return a.addName(golden.CheckReplaceable(a.copy.Path))
}

func (a *address) Identify(id map[string]string) {
	id["the golden at its address"] = "none"
	if a.copy != nil {
		id["the golden at its address"] = a.copy.Tag()
	}
}

func (a *address) Reopen(run string) error {
	s, err := golden.Open(a.Path())
	if err != nil {
		return nil // the golden is missing or incomplete, so the run continues as usual
	}
	own := s.Meta().Run == run
	if err := s.Close(); err != nil || !own {
		return err
	}
	return golden.Unfinish(a.Path())
}

func (a *address) Publish(ctx context.Context, again string) error {
	err := a.there.Replace(ctx, a.Path(), a.copy)
	switch {
	case errors.Is(err, mirror.ErrChanged):
		return fault.Inputf("the golden %s was changed by somebody else since this began, and stays: this one is kept as %s, and muster diff shows in what they differ: check against theirs, or do this again", a.name, a.Path())
	case err != nil:
		return fmt.Errorf("%w; this one is kept as %s: %s", err, a.Path(), again)
	}
	return nil
}
