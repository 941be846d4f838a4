package bucket

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync/atomic"
	"time"

	"muster/fileio"
)

// probePrefix begins the names of files that probe and Check write. Clients cannot use them.
const probePrefix = ".muster-probe/"

func probeName() string { return probePrefix + rand.Text() }

// checkName returns an error if a file cannot have this name.
func checkName(name string) error {
	if strings.HasPrefix(name, probePrefix) {
		return fmt.Errorf("%q: %w: names below %s are for checks of the object store", name, fileio.ErrName, probePrefix)
	}
	return fileio.CheckName(name)
}

// A refusal has the errors of changes with a condition. An error is nil if the object store obeys
// the condition.
type refusal struct{ writes, deletes error }

// probeMax is how long a probe may take.
const probeMax = 2 * time.Minute

// A probe finds out once which conditions the object store ignores.
type probe struct {
	remote  *remote
	running chan struct{}           // holds an element while a probe runs
	found   atomic.Pointer[refusal] // nil = not probed yet
}

// refusal returns what the probe found. The first call probes.
func (p *probe) refusal(ctx context.Context) (refusal, error) {
	if found := p.found.Load(); found != nil {
		return *found, nil
	}
	select {
	case p.running <- struct{}{}:
		defer func() { <-p.running }()
	case <-ctx.Done():
		return refusal{}, ctx.Err()
	}
	if found := p.found.Load(); found != nil { // by a call that ran meanwhile
		return *found, nil
	}
	found, err := findRefusal(ctx, p.remote)
	if err != nil {
		return refusal{}, p.remote.explain(ctx, err)
	}
	p.found.Store(&found)
	return found, nil
}

// findRefusal finds out whether the object store can be written to and which conditions it obeys.
func findRefusal(ctx context.Context, r *remote) (found refusal, err error) {
	ctx, cancel := context.WithTimeout(ctx, probeMax)
	defer cancel()
	p := prober{remote: r, key: r.key(probeName())}
	first, err := r.put(ctx, p.key, []byte("first"), condition{}, "")
	if err = r.explain(ctx, err); errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%s answers a write with 404, which no object store does: check --endpoint or AWS_ENDPOINT_URL", r.host)
	}
	if err != nil {
		return found, err
	}
	p.none = strings.Repeat("0", len(first))
	file, fileErr := p.obeys(ctx, p.writeFile)
	parts, partsErr := p.obeys(ctx, p.writeParts)
	at := r.host
	if kind := map[[2]bool]string{{false, true}: "of a file", {true, false}: "of a file in parts", {false, false}: "of any kind"}[[2]bool{file, parts}]; kind != "" {
		found.writes = &wordedError{fmt.Sprintf("the object store at %s ignores conditions of a write (%s), so two writers could overwrite each other's golden: keep goldens elsewhere", at, kind), errors.ErrUnsupported}
	}
	_, err = r.remove(ctx, p.key, p.none)
	if !errors.Is(r.explain(ctx, err), fileio.ErrChanged) {
		found.deletes = &wordedError{fmt.Sprintf("the object store at %s ignores conditions of a delete: delete without one", at), errors.ErrUnsupported}
	}
	_, err = r.remove(ctx, p.key, "")
	return found, cmp.Or(fileErr, partsErr, r.explain(ctx, err))
}

// A prober writes one file, which never has the tag none.
type prober struct {
	*remote
	key, none string
}

// obeys reports whether writes of one kind obey conditions.
func (p *prober) obeys(ctx context.Context, write func(context.Context, condition) (tag string, err error)) (bool, error) {
	for _, wrong := range []condition{{absent: true}, {match: p.none}} {
		_, err := write(ctx, wrong)
		if err == nil {
			return false, nil
		}
		if err := p.explain(ctx, err); !errors.Is(err, fileio.ErrChanged) {
			return false, err
		}
	}
	tag, err := write(ctx, condition{})
	if err == nil {
		_, err = write(ctx, condition{match: tag})
	}
	if err := p.explain(ctx, err); !errors.Is(err, fileio.ErrChanged) {
		return err == nil, err
	}
	return false, nil
}

func (p *prober) writeFile(ctx context.Context, want condition) (string, error) {
	return p.put(ctx, p.key, []byte(rand.Text()), want, "")
}

func (p *prober) writeParts(ctx context.Context, want condition) (tag string, err error) {
	u := upload{remote: p.remote, key: p.key}
	if err := u.begin(ctx, ""); err != nil {
		return "", err
	}
	if err = u.add(ctx, []byte(rand.Text())); err == nil {
		tag, err = u.complete(ctx, want)
	}
	if err != nil {
		_ = u.abort(ctx) // the first error counts
	}
	return tag, err
}
