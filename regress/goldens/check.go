package goldens

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"muster/internal/readable"
	"muster/internal/wording"
	"muster/regress"
	"muster/regress/host"
	"muster/regress/internal/fault"
	"muster/regress/internal/place"
	"muster/regress/internal/wholegolden"
)

// Check reads the whole golden. It prints each damage with the cases that it affects.
// Damage is an error of class Input.
func Check(ctx context.Context, o regress.Options, h host.Host) (err error) {
	base, err := place.Open(ctx, o.Store.Golden, place.NewOptions(o.Store.State, h.Files))
	if err != nil {
		return place.ExplainMissing(o.Store.Golden, err)
	}
	defer func() { err = errors.Join(err, base.Close()) }()
	found, err := wholegolden.Check(ctx, base.Store)
	if err != nil {
		return err
	}
	if err := printChecked(h.Stdout, o.Store.Golden, found); err != nil {
		return err
	}
	if found.Whole() {
		return nil
	}
	return fault.Inputf("golden %s is damaged: restore it, record again, or keep what is whole with muster golden repair --drop", o.Store.Golden)
}

func printChecked(w io.Writer, called string, found *wholegolden.CheckResult) error {
	var b strings.Builder
	for _, d := range found.Damaged {
		fmt.Fprintf(&b, "damaged: %s\n", readable.Line(wording.Of(d.Reason)))
		for _, at := range d.Cases {
			fmt.Fprintf(&b, "  %s\n", at)
		}
	}
	for _, err := range found.Lists {
		fmt.Fprintf(&b, "damaged: %s\n", readable.Line(wording.Of(err)))
	}
	if found.Whole() {
		fmt.Fprintf(&b, "golden %s is whole: %s, %s of %s\n", called, readable.Cases(found.Cases), readable.Count(found.Contents, "output"), readable.Size(found.Bytes))
	} else {
		fmt.Fprintf(&b, "golden %s is damaged: %s of %s, used by %s\n", called,
			readable.Number(len(found.Damaged)), readable.Count(found.Contents, "output"), readable.Cases(damagedCases(found)))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// damagedCases counts the cases that damage affects.
func damagedCases(found *wholegolden.CheckResult) int {
	cases := map[string]bool{}
	for _, d := range found.Damaged {
		for _, at := range d.Cases {
			cases[at.Case] = true
		}
	}
	return len(cases)
}
