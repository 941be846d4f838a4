package golden

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"muster/regress"
	"muster/regress/internal/outcome"
)

// A record of version 1:
//
//	version, flags, kind of ending   one byte each
//	code of the ending               varint
//	runs, CPU ns, wall ns, RSS KiB   varint each
//	number of parts                  uvarint, then for each part
//	    place | form << 2 | bits     one byte
//	    path                         uvarint length, bytes
//	    size                         uvarint
//	    digest                       32 bytes, only with bitDigest
const recordVersionV1 = 1

// The flags of version 1. It has flagFlaky and flagByStatus where version 2 has them.
const (
	flagEndingFlakyV1 = 1 << 0
	flagCutV1         = 1 << 2
	flagsKnownV1      = flagEndingFlakyV1 | flagFlaky | flagCutV1 | flagByStatus
)

// outcomeV1 is an outcome of format 1. It only marks flaky parts and a flaky ending, without
// their shapes and variants.
type outcomeV1 struct {
	ending      regress.Ending
	endingFlaky bool // another run ended differently
	cut         bool // a limit ended another run; never set if the ending is partial
	byStatus    bool
	parts       []outcome.Part // without Seen and Variants
}

// recordV1 decodes everything after the version.
func (d *decoder) recordV1(digest outcome.Digest) (Record, error) {
	flags, r := d.headV1()
	old := outcomeV1{
		ending: r.Outcome.Ending, endingFlaky: flags&flagEndingFlakyV1 != 0, cut: flags&flagCutV1 != 0,
		byStatus: flags&flagByStatus != 0,
	}
	for range d.times {
		old.parts = append(old.parts, d.partV1())
	}
	switch {
	case d.short || len(d.rest) > 0 || flags&^byte(flagsKnownV1) != 0:
		return Record{}, errForm
	case flags != old.flags():
		return Record{}, errFlags
	case old.cut && old.ending.Partial():
		return Record{}, errors.New("a limit ended this run and another one")
	case old.digest() != digest:
		return Record{}, errors.New("outcome does not match its digest")
	}
	r.Outcome = old.outcome()
	return r, nil
}

// headV1 decodes the first fields after the version of a record. Later versions begin with them too.
func (d *decoder) headV1() (flags byte, r Record) {
	flags = d.byte()
	r.Outcome.Ending = d.ending()
	r.Runs = int(d.varint())
	r.Cost = outcome.Cost{CPU: time.Duration(d.varint()), Wall: time.Duration(d.varint()), PeakRSS: d.varint()}
	return flags, r
}

// partV1 decodes the fields of a part that every version has.
func (d *decoder) partV1() outcome.Part {
	bits := d.bits()
	p := outcome.Part{Flaky: bits&bitFlaky != 0}
	p.Place = outcome.Place(bits & (1<<formShift - 1))
	p.Path = string(d.bytes(d.uvarint()))
	v := d.content(bits)
	p.Form, p.Exec, p.Size, p.Digest = v.Form, v.Exec, v.Size, v.Digest
	return p
}

func (o *outcomeV1) flags() byte {
	isFlaky := o.endingFlaky || o.cut || slices.ContainsFunc(o.parts, func(p outcome.Part) bool { return p.Flaky })
	return bitIf(o.endingFlaky, flagEndingFlakyV1) | bitIf(o.cut, flagCutV1) |
		bitIf(o.byStatus, flagByStatus) | bitIf(isFlaky, flagFlaky)
}

// digest returns the digest that is stored beside a record of version 1. If nothing is flaky,
// it equals outcome.Outcome.Digest.
func (o *outcomeV1) digest() outcome.Digest {
	b := []byte("outcome 1\n")
	if o.endingFlaky {
		b = append(b, "flaky ending\n"...)
	} else {
		b = fmt.Appendf(b, "%d %d\n", o.ending.Kind, o.ending.Code)
	}
	if o.ending.Partial() {
		return outcome.Of(b)
	}
	if o.cut {
		b = append(b, "cut\n"...)
	}
	for i := range o.parts {
		b = appendPartV1(b, &o.parts[i])
	}
	return outcome.Of(b)
}

// appendPartV1 appends the bytes of a part that the digest covers.
func appendPartV1(b []byte, p *outcome.Part) []byte {
	b = binary.AppendUvarint(b, uint64(len(p.Path)))
	b = fmt.Appendf(b, "%s %d", p.Path, p.Place)
	if p.Flaky {
		return append(b, " flaky\n"...)
	}
	return fmt.Appendf(b, " %d %t %x\n", p.Form, p.Exec, p.Digest[:])
}

// outcome converts to today's outcome. A flaky ending covers every exit status and no signal. A run
// that a limit cut off may have met any limit.
func (o *outcomeV1) outcome() outcome.Outcome {
	now := outcome.Outcome{Ending: o.ending, AnyExit: o.endingFlaky, ByStatus: o.byStatus, Parts: o.parts}
	if o.cut {
		now.Others = []regress.Ending{{Kind: regress.TimedOut}, {Kind: regress.OutOfMemory}, {Kind: regress.OutputLimit}}
	}
	for i := range now.Parts {
		if p := &now.Parts[i]; p.Flaky {
			p.Seen = seenV1(p)
		}
	}
	return now
}

// seenV1 returns the shapes that a flaky part of format 1 may have had. A part of the kept
// run was never absent, and was empty only if it is empty in that run. A part that only a
// later run left may have had any shape, because its name may vary.
func seenV1(p *outcome.Part) outcome.Shapes {
	if !HasContent(*p) {
		return outcome.AllShapes
	}
	seen := outcome.AllShapes &^ outcome.ShapesOf(outcome.Absent, outcome.Empty, outcome.EmptyExec, outcome.Removed)
	switch {
	case p.Form != outcome.Regular || p.Size > 0:
	case p.Exec:
		seen |= outcome.ShapesOf(outcome.EmptyExec)
	default:
		seen |= outcome.ShapesOf(outcome.Empty)
	}
	return seen
}

// decoder takes values from the front of a record. If the record is too short, it
// sets short, and all further values are zero.
type decoder struct {
	rest  []byte
	short bool
}

func (d *decoder) bytes(n uint64) []byte {
	if d.short || n > uint64(len(d.rest)) {
		d.short, d.rest = true, nil
		return nil
	}
	b := d.rest[:n]
	d.rest = d.rest[n:]
	return b
}

func (d *decoder) byte() byte {
	b := d.bytes(1)
	if d.short {
		return 0
	}
	return b[0]
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.rest)
	if n <= 0 {
		d.short, d.rest = true, nil
		return 0
	}
	d.rest = d.rest[n:]
	return v
}

func (d *decoder) varint() int64 {
	v, n := binary.Varint(d.rest)
	if n <= 0 {
		d.short, d.rest = true, nil
		return 0
	}
	d.rest = d.rest[n:]
	return v
}

// times yields as often as the next number says, until the record turns out to be too short.
func (d *decoder) times(yield func() bool) {
	for range d.uvarint() {
		if d.short || !yield() {
			return
		}
	}
}

func (d *decoder) digest() (digest outcome.Digest) {
	copy(digest[:], d.bytes(uint64(len(digest))))
	return digest
}
