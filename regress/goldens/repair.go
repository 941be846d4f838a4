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
	"muster/regress/internal/golden"
	"muster/regress/internal/mirror"
	"muster/regress/internal/name"
	"muster/regress/internal/place"
)

// Repair replaces a damaged golden by one of its whole cases. It prints the cases that
// it dropped.
func Repair(ctx context.Context, o regress.Options, h host.Host) error {
	if err := onlyFile(o.Store.Golden, "repair"); err != nil {
		return err
	}
	done, err := golden.Repair(ctx, o.Store.Golden)
	if d := (*golden.Damage)(nil); errors.As(err, &d) {
		return fault.Inputf("golden %s cannot be repaired: %w: restore it from a backup, or record again", o.Store.Golden, d)
	}
	if err != nil {
		return place.ExplainMissing(o.Store.Golden, err)
	}
	_, err = io.WriteString(h.Stdout, repairText(o.Store.Golden, done))
	return err
}

// onlyFile refuses a golden at an address where a command changes a file in place.
func onlyFile(golden, command string) error {
	if !mirror.IsAddress(golden) {
		return nil
	}
	return fault.Inputf("muster golden %s works on files, and %s is an address: download it, do this with the file, and upload the file", command, golden)
}

func repairText(called string, done golden.RepairResult) string {
	var b strings.Builder
	if done.Whole {
		fmt.Fprintf(&b, "golden %s is whole: nothing to repair in %s\n", called, readable.Cases(done.Kept))
		return b.String()
	}
	for _, d := range done.Dropped {
		fmt.Fprintf(&b, "dropped: case %s: %s\n", name.Print(d.Name), readable.Line(wording.Of(d.Reason)))
	}
	for _, err := range done.Lists {
		fmt.Fprintf(&b, "damaged: %s\n", readable.Line(wording.Of(err)))
	}
	if done.Unreadable != nil {
		b.WriteString("Part of the list of cases cannot be read. The names of the lost cases are unknown.\n")
	}
	if done.SharedLost {
		b.WriteString("The digests of the shared files are lost: checks no longer report which of these files changed.\n")
	}
	fmt.Fprintf(&b, "golden %s: %s kept, %s dropped; the damaged file is %s\n", called,
		readable.Cases(done.Kept), readable.Number(len(done.Dropped)), done.Damaged)
	return b.String()
}
