package bucket

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"strings"

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

// Probe checks that the bucket can be written to, and that the object store obeys conditions of writes. Otherwise the error
// wraps errors.ErrUnsupported: two writers could overwrite each other. Call it before the first change. Without it,
// deletes with a condition are refused.
func (s *Store) Probe(ctx context.Context) error {
	bounded, cancel := context.WithTimeout(ctx, requestMax)
	defer cancel()
	return s.remote.explain(ctx, s.findConditions(bounded, s.remote.key(probeName())))
}

// findConditions writes a file and removes it.
func (s *Store) findConditions(ctx context.Context, key string) (err error) {
	r := s.remote
	tag, err := r.put(ctx, key, []byte("first"), condition{}, "")
	if errors.Is(r.explain(ctx, err), fs.ErrNotExist) {
		return fmt.Errorf("%s answers a write with 404, which no object store does: check --endpoint or AWS_ENDPOINT_URL", r.host)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.remove(ctx, key, "")) }()
	wrong := condition{match: strings.Repeat("0", len(tag))}
	for _, write := range []func(context.Context, string, condition) error{r.probeFile, r.probeParts} {
		for _, want := range []condition{{absent: true}, wrong} {
			if err := write(ctx, key, want); !errors.Is(r.explain(ctx, err), fileio.ErrChanged) {
				return cmp.Or(err, r.noConditions())
			}
		}
	}
	s.deletes.Store(errors.Is(r.explain(ctx, r.remove(ctx, key, wrong.match)), fileio.ErrChanged))
	return nil
}

func (r *remote) noConditions() error {
	return &wordedError{fmt.Sprintf("the object store at %s ignores conditions of writes, so two writers could overwrite each other's file: use another one", r.host), errors.ErrUnsupported}
}

func (r *remote) probeFile(ctx context.Context, key string, want condition) error {
	_, err := r.put(ctx, key, []byte("second"), want, "")
	return err
}

func (r *remote) probeParts(ctx context.Context, key string, want condition) error {
	u := upload{remote: r, key: key}
	if err := u.begin(ctx, ""); err != nil {
		return err
	}
	err := u.add(ctx, []byte("third"))
	if err == nil {
		_, err = u.complete(ctx, want)
	}
	if err != nil {
		_ = u.abort(ctx) // the first error counts
	}
	return err
}
