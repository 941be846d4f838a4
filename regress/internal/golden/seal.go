package golden

import (
	"bytes"
	"context"
	"fmt"

	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
)

// seal removes the contents and the accepts that no outcome refers to. It then writes the
// digest over all rows; only a store with that digest opens. Errors are not classified.
func seal(ctx context.Context, q querier) (outcome.Digest, error) {
	d, err := readDescription(ctx, q, Version)
	if err != nil {
		return outcome.Digest{}, err
	}
	m, err := decodeMeta(d.meta)
	if err != nil {
		return outcome.Digest{}, err
	}
	wanted, used := map[outcome.Digest]bool{}, make([]bool, len(m.Accepts))
	sum, err := scan(ctx, q, d, func(r row) error {
		rec, err := r.decode()
		if err != nil {
			return err
		}
		for p := range WithContent(&rec.Outcome) {
			if p.Size > 0 {
				wanted[p.Digest] = true
			}
		}
		return markOrigin(used, rec)
	})
	if err != nil {
		return sum, err
	}
	if err := sweep(ctx, q, wanted); err != nil {
		return sum, err
	}
	dropped, err := dropAccepts(ctx, q, &d, m, used)
	if err == nil && dropped {
		sum, err = scan(ctx, q, d, func(row) error { return nil })
	}
	if err != nil || bytes.Equal(d.digest, sum[:]) {
		return sum, err
	}
	_, err = q.ExecContext(ctx, "UPDATE golden SET digest=? WHERE id=1", sum[:])
	return sum, err
}

func markOrigin(used []bool, r Record) error {
	if err := checkOrigin(r.Name, r.Origin, len(used)); err != nil || r.Origin == 0 {
		return err
	}
	used[r.Origin-1] = true
	return nil
}

// checkOrigin refuses a record whose accept the meta does not list.
func checkOrigin(caseName string, origin, accepts int) error {
	if origin < 0 || origin > accepts {
		return fmt.Errorf("case %s belongs to accept %d of %d", name.Print(caseName), origin, accepts)
	}
	return nil
}

// dropAccepts removes the unused accepts, and updates the indexes in the records.
func dropAccepts(ctx context.Context, q querier, d *description, m Meta, used []bool) (dropped bool, err error) {
	moved := make([]int, len(used)+1) // the new origin by the old one
	kept := m.Accepts[:0:0]
	for i, a := range m.Accepts {
		if used[i] {
			kept = append(kept, a)
			moved[i+1] = len(kept)
		}
	}
	if len(kept) == len(m.Accepts) {
		return false, nil
	}
	m.Accepts = kept
	if d.meta, err = encodeMeta(m, d.meta); err != nil {
		return false, err
	}
	if err := writeMeta(ctx, q, d.meta); err != nil {
		return false, err
	}
	return true, rewrite(ctx, q, func(r *Record) bool {
		was := r.Origin
		r.Origin = moved[was]
		return r.Origin != was
	})
}

// sweep removes all blobs except the wanted ones. It fails if a wanted blob is missing.
func sweep(ctx context.Context, q querier, wanted map[outcome.Digest]bool) error {
	stored, err := blobs(ctx, q)
	if err != nil {
		return err
	}
	there := 0
	for _, b := range stored {
		if wanted[b.digest] {
			there++
			continue
		}
		if err := dropBlob(ctx, q, b); err != nil {
			return err
		}
	}
	if there != len(wanted) {
		return fmt.Errorf("the contents of %d parts are missing", len(wanted)-there)
	}
	return nil
}
