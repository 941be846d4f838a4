// Package goldens works on golden files: it describes, checks, repairs, compacts, merges and prints
// them, and exports and imports them as plain files.
//
// Input: the golden that Options.Store.Golden names; Merge takes names instead. Repair, Compact and
// the target of Merge must be files; the others may also be addresses. Output: a text on the standard
// output of the host, except from Export and Import. Error texts say what to do; regress.ClassOf
// returns the class of an error.
//
// The package must not run cases or judge outcomes.
package goldens

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"muster/internal/readable"
	"muster/internal/wording"
	"muster/regress"
	"muster/regress/host"
	"muster/regress/internal/fault"
	"muster/regress/internal/golden"
	"muster/regress/internal/name"
	"muster/regress/internal/place"
	"muster/regress/internal/plainfiles"
	"muster/regress/internal/report"
	"muster/regress/internal/state"
	"muster/regress/internal/wholegolden"
)

// open opens a golden for reading.
func open(ctx context.Context, o *regress.Options, h host.Host, called string) (*place.Golden, error) {
	base, err := place.Open(ctx, called, place.NewOptions(o.Store.State, h.Files))
	return base, place.ExplainMissing(called, err)
}

// Check reads the whole golden. It prints each damage with the cases that it affects.
// Damage is an error of class Input.
func Check(ctx context.Context, o regress.Options, h host.Host) (err error) {
	base, err := open(ctx, &o, h, o.Store.Golden)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, base.Close()) }()
	found, err := base.Store.Check(ctx)
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

func printChecked(w io.Writer, called string, found *golden.CheckResult) error {
	text := damageText("damaged", found)
	if found.Whole() {
		text += fmt.Sprintf("golden %s is whole: %s, %s of %s\n", called, readable.Cases(found.Cases), readable.Count(found.Contents, "output"), readable.Size(found.Bytes))
	} else {
		text += fmt.Sprintf("golden %s is damaged: %s of %s\n", called, readable.Number(len(found.Damaged)), readable.Cases(found.Cases))
	}
	_, err := io.WriteString(w, text)
	return err
}

// damageText returns a line for each damage. verb says what happened to a damaged case.
func damageText(verb string, found *golden.CheckResult) string {
	var b strings.Builder
	for _, d := range found.Damaged {
		fmt.Fprintf(&b, "%s: case %s: %s\n", verb, name.Print(d.Name), readable.Line(wording.Of(d.Reason)))
	}
	for _, err := range found.Lists {
		fmt.Fprintf(&b, "damaged: %s\n", readable.Line(wording.Of(err)))
	}
	return b.String()
}

// Compact returns the golden's unused space to the file system, and prints both sizes.
func Compact(ctx context.Context, o regress.Options, h host.Host) error {
	if err := onlyFile(o.Store.Golden, "compact"); err != nil {
		return err
	}
	before, after, err := golden.Compact(ctx, o.Store.Golden)
	if err != nil {
		return place.ExplainMissing(o.Store.Golden, err)
	}
	_, err = fmt.Fprintf(h.Stdout, "golden %s: %s before, %s after\n", o.Store.Golden, readable.Size(before), readable.Size(after))
	return err
}

// Info prints the golden's origin, settings, accepts and sizes.
func Info(ctx context.Context, o regress.Options, h host.Host) (err error) {
	base, err := open(ctx, &o, h, o.Store.Golden)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, base.Close()) }()
	info, err := wholegolden.Describe(o.Store.Golden, base.Store)
	if err != nil {
		return err
	}
	if o.Report.Format == regress.JSON {
		return report.EncodeLine(h.Stdout, info)
	}
	return info.WriteText(h.Stdout)
}

// Merge writes the goldens of partitions as one, at into. With a base, the names are the goldens of two branches,
// which both come from it. An empty file as base stands for none, as git has it for a file that both branches
// added.
func Merge(ctx context.Context, o regress.Options, h host.Host, into, base string, names []string) (err error) {
	if err := onlyFile(into, "merge"); err != nil {
		return err
	}
	if info, err := os.Stat(base); err == nil && info.Mode().IsRegular() && info.Size() == 0 {
		if err := Merge(ctx, o, h, into, "", names); err != nil {
			return fmt.Errorf("both branches added the golden: %w", err)
		}
		return nil
	}
	var opened []*place.Golden
	defer func() {
		for _, g := range opened {
			err = errors.Join(err, g.Close())
		}
	}()
	openAs := func(n, called string) (*golden.Store, error) {
		g, err := open(ctx, &o, h, n)
		if err != nil {
			if base != "" { // git names its temporary files at random
				err = fmt.Errorf("the golden %s: %w", called, err)
			}
			return nil, err
		}
		opened = append(opened, g)
		return g.Store, nil
	}
	var before *golden.Store
	if base != "" {
		if before, err = openAs(base, "before the branches"); err != nil {
			return err
		}
	}
	var shards []wholegolden.Shard
	for i, n := range names {
		called := n
		if base != "" {
			called = [...]string{"ours", "theirs"}[i]
		}
		s, err := openAs(n, called)
		if err != nil {
			return err
		}
		shards = append(shards, wholegolden.Shard{Name: called, Store: s})
	}
	done, err := wholegolden.Merge(ctx, into, before, shards)
	if err != nil {
		return err
	}
	text := fmt.Sprintf("golden %s: %s of %s", into, readable.Cases(done.Cases), readable.Count(len(names), "golden"))
	switch {
	case base != "":
		text = fmt.Sprintf("golden: %s, %s of them from the other branch", readable.Cases(done.Cases), readable.Number(done.Taken))
	case done.Twice > 0:
		text += fmt.Sprintf(", %s of them in more than one", readable.Number(done.Twice))
	}
	_, err = fmt.Fprintln(h.Stdout, text)
	return err
}

// Export writes a golden as plain files into dir, which must be new or empty.
func Export(ctx context.Context, o regress.Options, h host.Host, dir string) (err error) {
	base, err := open(ctx, &o, h, o.Store.Golden)
	if err != nil {
		return err
	}
	return errors.Join(plainfiles.Export(ctx, base.Store, dir), base.Close())
}

// Import makes a golden of a folder that Export wrote. The golden has no costs.
func Import(ctx context.Context, o regress.Options, h host.Host, dir string) error {
	into, err := place.FindTarget(ctx, o.Store.Golden, place.NewOptions(o.Store.State, h.Files))
	if err != nil {
		return err
	}
	defer into.Close()
	if into.InState() {
		unlock, err := state.Open(o.Store.State).Lock()
		if err != nil {
			return err
		}
		defer unlock()
	}
	err = plainfiles.Import(ctx, dir, into.Path(), golden.Meta{
		Machine: golden.Machine(), MusterVersion: o.Version, Created: time.Now(), Repeat: 1,
	})
	if err != nil {
		return err
	}
	return into.Publish(ctx, "muster import does it again")
}

// Repair replaces a damaged golden by one of its whole cases. It prints the cases that
// it dropped.
func Repair(ctx context.Context, o regress.Options, h host.Host) error {
	if err := onlyFile(o.Store.Golden, "repair"); err != nil {
		return err
	}
	found, err := golden.Repair(ctx, o.Store.Golden)
	if d := (*golden.Damage)(nil); errors.As(err, &d) {
		return fault.Inputf("golden %s cannot be repaired: %w: restore it from a backup, or record again", o.Store.Golden, d)
	}
	if err != nil {
		return place.ExplainMissing(o.Store.Golden, err)
	}
	text := fmt.Sprintf("golden %s is whole: nothing to repair in %s\n", o.Store.Golden, readable.Cases(found.Cases))
	if !found.Whole() {
		text = damageText("dropped", found) + fmt.Sprintf("golden %s: %s kept, %s dropped; the damaged file is %s\n", o.Store.Golden,
			readable.Cases(found.Cases-len(found.Damaged)), readable.Number(len(found.Damaged)), o.Store.Golden+golden.DamagedSuffix)
	}
	_, err = io.WriteString(h.Stdout, text)
	return err
}

// onlyFile refuses a golden at an address where a command changes a file in place.
func onlyFile(golden, command string) error {
	if !place.IsAddress(golden) {
		return nil
	}
	return fault.Inputf("muster golden %s works on files, and %s is an address: download it, do this with the file, and upload the file", command, golden)
}

// Text prints the golden as lines of text, for git diff.
func Text(ctx context.Context, o regress.Options, h host.Host) error {
	base, err := open(ctx, &o, h, o.Store.Golden)
	if err != nil {
		return err
	}
	return errors.Join(wholegolden.WriteText(ctx, h.Stdout, base.Store), base.Close())
}
