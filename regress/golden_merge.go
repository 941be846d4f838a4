package regress

import (
	"context"
	"errors"
	"fmt"

	"muster/internal/readable"
	"muster/regress/host"
	"muster/regress/internal/goldens"
	"muster/regress/internal/place"
)

// GoldenMerge writes the goldens of partitions as one, at into.
func GoldenMerge(ctx context.Context, o Options, h host.Host, into string, names []string) (err error) {
	if err := onlyFile(into, "merge"); err != nil {
		return err
	}
	var opened []*place.Golden
	var shards []goldens.Shard
	defer func() {
		for _, g := range opened {
			err = errors.Join(err, g.Close())
		}
	}()
	for _, n := range names {
		base, err := place.Open(ctx, n, placeOptions(&o, h))
		if err != nil {
			return place.ExplainMissing(n, err)
		}
		opened = append(opened, base)
		shards = append(shards, goldens.Shard{Name: n, Store: base.Store})
	}
	done, err := goldens.Merge(ctx, into, shards)
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
