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
)

// target is a golden that is to be written whole, in place of what is located.
type target struct {
	*located
	path string // of the file that is written: the golden's own, or one that goes to its address
}

// replacing locates a golden that may be replaced, or made.
func (o *Options) replacing(ctx context.Context) (*target, error) {
	at, err := o.locate(ctx, o.Store.Golden)
	if err != nil {
		return nil, err
	}
	t := &target{at, at.file}
	if at.away != nil {
		if err := at.away.Replaceable(at.copy); err != nil {
			at.close()
			return nil, err
		}
		t.path = filepath.Join(at.state.Recorded(), at.away.Key()+".golden")
		if err := os.MkdirAll(at.state.Recorded(), 0o755); err != nil {
			at.close()
			return nil, fault.Environmentf("state folder: %w", err)
		}
	}
	if at.file != "" {
		err = at.about(golden.Replaceable(at.file))
	}
	if err != nil {
		at.close()
		return nil, err
	}
	return t, nil
}

// identify adds which golden at an address is replaced: a record that goes on must not
// take the place of another.
func (t *target) identify(id map[string]string) {
	switch {
	case t.copy != nil:
		id["the golden at its address"] = t.copy.Tag()
	case t.away != nil:
		id["the golden at its address"] = "none"
	}
}

// reopen has a run go on that had recorded everything, and could not send it: what it
// wrote is unfinished again.
func (t *target) reopen(run string) error {
	if t.away == nil {
		return nil
	}
	s, err := golden.Open(t.path)
	if err != nil {
		return nil // it is not there, or not whole: the run goes on as any other
	}
	own := s.Meta().Run == run
	if err := s.Close(); err != nil || !own {
		return err
	}
	return golden.Unfinish(t.path)
}

// publish sends what was written to its address. again says how the user does that once
// more.
func (t *target) publish(ctx context.Context, again string) error {
	if t.away == nil {
		return nil
	}
	err := t.away.Replace(ctx, t.path, t.copy)
	switch {
	case errors.Is(err, mirror.ErrChanged):
		return fault.Inputf("the golden %s was changed by somebody else since this began, and stays: this one is kept as %s, and muster diff shows in what they differ: check against theirs, or do this again", t.name, t.path)
	case err != nil:
		return fmt.Errorf("%w; this one is kept as %s: %s", err, t.path, again)
	}
	return nil
}
