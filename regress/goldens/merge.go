package goldens

import (
	"context"
	"errors"
	"fmt"

	"muster/internal/readable"
	"muster/regress"
	"muster/regress/host"
	"muster/regress/internal/place"
	"muster/regress/internal/wholegolden"
)

// Merge writes the goldens of partitions as one, at into.
func Merge(ctx context.Context, o regress.Options, h host.Host, into string, names []string) (err error) {
	if err := onlyFile(into, "merge"); err != nil {
		return err
	}
	var opened []*place.Golden
	var shards []wholegolden.Shard
	defer func() {
		for _, g := range opened {
			err = errors.Join(err, g.Close())
		}
	}()
	for _, n := range names {
		base, err := place.Open(ctx, n, place.NewOptions(o.Store.State, h.Files))
		if err != nil {
			return place.ExplainMissing(n, err)
		}
		opened = append(opened, base)
		shards = append(shards, wholegolden.Shard{Name: n, Store: base.Store})
	}
	done, err := wholegolden.Merge(ctx, into, shards)
	if err != nil {
		return err
	}
	text := fmt.Sprintf("golden %s: %s of %s", into, readable.Cases(done.Cases), readable.Count(len(names), "golden"))
	if done.Twice > 0 {
		text += fmt.Sprintf(", %s of them in more than one", readable.Number(done.Twice))
	}
	_, err = fmt.Fprintln(h.Stdout, text)
	return err
}
