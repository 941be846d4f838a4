package golden

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
)

// Record is what a store holds of one case.
type Record struct {
	Name    string
	Outcome outcome.Outcome
	Cost    outcome.Cost // of the first run
	Runs    int          // how many runs the outcome rests on; 0 when not known
}

// HasContent reports whether a store keeps content for p. There is none of
// what is gone, nor of what the caller marked with the zero digest: flaky
// parts that only a later run left, content that was not kept.
func HasContent(p outcome.Part) bool {
	return p.Form != outcome.Gone && p.Digest != outcome.Digest{}
}

// The encoding of a record, which is a row's content and so part of the
// file's format:
//
//	version, flags, kind of ending   one byte each
//	code of the ending               varint
//	runs, CPU ns, wall ns, RSS KiB   varint each
//	number of parts                  uvarint, then for each part
//	    place | form << 2 | bits     one byte
//	    path                         uvarint length, bytes
//	    size                         uvarint
//	    digest                       32 bytes, only with bitDigest
const recordVersion = 1

const (
	flagEndingFlaky = 1 << iota
	flagFlaky       // the ending or some part: at a fixed place, so that opening need not decode
	flagCut
	flagByStatus
	flagsKnown = flagEndingFlaky | flagFlaky | flagCut | flagByStatus
)

const (
	formShift = 2
	bitExec   = 1 << (iota + 3)
	bitFlaky
	bitDigest
	bitsKnown = bitDigest<<1 - 1
)

// flagsAt is where a record's flags are.
const flagsAt = 1

// ErrRecord is returned by Put for a record that no run can have given.
var ErrRecord = errors.New("not a possible outcome")

// canonical returns r with its parts in order, or an error when r is not an
// outcome that could be read back.
func canonical(r Record) (Record, error) {
	r.Outcome.Parts = slices.Clone(r.Outcome.Parts)
	r.Outcome.Sort()
	if r.Name == "" {
		return r, fmt.Errorf("%w: no name", ErrRecord)
	}
	if err := check(&r.Outcome); err != nil {
		return r, fmt.Errorf("%w: case %s: %w", ErrRecord, name.Print(r.Name), err)
	}
	return r, nil
}

// check tells what an encoded outcome can't be. It is the same for writing and
// for reading, so that nothing is written that would not be read.
func check(o *outcome.Outcome) error {
	if o.Ending.Kind > outcome.OutputLimit {
		return fmt.Errorf("ending %d is not known", uint8(o.Ending.Kind))
	}
	if o.Cut && o.Ending.Partial() {
		return errors.New("ended by a limit in some other run, and in this")
	}
	for i, p := range o.Parts {
		if i > 0 && !before(o.Parts[i-1].Key, p.Key) {
			return fmt.Errorf("%s is there twice or out of order", name.Print(p.String()))
		}
		if err := checkPart(p); err != nil {
			return fmt.Errorf("%s: %w", name.Print(p.String()), err)
		}
	}
	return nil
}

func before(a, b outcome.Key) bool {
	return a.Place < b.Place || a.Place == b.Place && a.Path < b.Path
}

func checkPart(p outcome.Part) error {
	stream := p.Place != outcome.File
	switch {
	case p.Place > outcome.File || p.Form > outcome.Gone:
		return errors.New("neither a stream nor a file")
	case stream != (p.Path == ""):
		return errors.New("a stream has no path, a file has one")
	case stream && (p.Form != outcome.Regular || p.Exec):
		return errors.New("a stream is a plain one")
	case p.Exec && p.Form != outcome.Regular:
		return errors.New("only a regular file can be executable")
	case p.Size < 0:
		return errors.New("negative size")
	case p.Form == outcome.Gone && (p.Digest != outcome.Digest{} || p.Size != 0):
		return errors.New("what is gone has no content")
	}
	return nil
}

// encodeRecord encodes a canonical record, its name apart.
func encodeRecord(r Record) []byte {
	b := make([]byte, 0, 32+48*len(r.Outcome.Parts))
	b = append(b, recordVersion, recordFlags(&r.Outcome), byte(r.Outcome.Ending.Kind))
	b = binary.AppendVarint(b, int64(r.Outcome.Ending.Code))
	b = binary.AppendVarint(b, int64(r.Runs))
	b = binary.AppendVarint(b, int64(r.Cost.CPU))
	b = binary.AppendVarint(b, int64(r.Cost.Wall))
	b = binary.AppendVarint(b, r.Cost.PeakRSS)
	b = binary.AppendUvarint(b, uint64(len(r.Outcome.Parts)))
	for _, p := range r.Outcome.Parts {
		b = appendPart(b, p)
	}
	return b
}

func recordFlags(o *outcome.Outcome) (flags byte) {
	if o.EndingFlaky {
		flags |= flagEndingFlaky
	}
	if o.Flaky() {
		flags |= flagFlaky
	}
	if o.Cut {
		flags |= flagCut
	}
	if o.ByStatus {
		flags |= flagByStatus
	}
	return flags
}

func appendPart(b []byte, p outcome.Part) []byte {
	bits := byte(p.Place) | byte(p.Form)<<formShift
	if p.Exec {
		bits |= bitExec
	}
	if p.Flaky {
		bits |= bitFlaky
	}
	if p.Digest != (outcome.Digest{}) {
		bits |= bitDigest
	}
	b = append(b, bits)
	b = binary.AppendUvarint(b, uint64(len(p.Path)))
	b = append(b, p.Path...)
	b = binary.AppendUvarint(b, uint64(p.Size))
	if bits&bitDigest != 0 {
		b = append(b, p.Digest[:]...)
	}
	return b
}

// decodeRecord reads what encodeRecord wrote, and nothing else: every error
// means that the record is damaged, or that its outcome is not the one whose
// digest stands beside it.
func decodeRecord(caseName string, data []byte, digest outcome.Digest) (Record, error) {
	d := decoder{rest: data}
	version, flags, r := d.head()
	if version != recordVersion {
		return Record{}, fmt.Errorf("record version %d", version)
	}
	r.Name = caseName
	for range d.uvarint() {
		if d.short {
			break
		}
		r.Outcome.Parts = append(r.Outcome.Parts, d.part())
	}
	switch {
	case d.short || len(d.rest) > 0 || flags&^byte(flagsKnown) != 0:
		return Record{}, errors.New("record of a wrong length or form")
	case flags != recordFlags(&r.Outcome):
		return Record{}, errors.New("record with wrong flags")
	}
	if err := check(&r.Outcome); err != nil {
		return Record{}, err
	}
	if r.Outcome.Digest() != digest {
		return Record{}, errors.New("outcome does not have its digest")
	}
	return r, nil
}

// wallOf takes the wall time out of an encoded record; 0 when it is damaged, which
// decoding it tells.
func wallOf(record []byte) time.Duration {
	d := decoder{rest: record}
	_, _, r := d.head()
	return max(0, r.Cost.Wall)
}

// head takes all but the name and the parts.
func (d *decoder) head() (version, flags byte, r Record) {
	version, flags = d.byte(), d.byte()
	r.Outcome.EndingFlaky = flags&flagEndingFlaky != 0
	r.Outcome.Cut = flags&flagCut != 0
	r.Outcome.ByStatus = flags&flagByStatus != 0
	r.Outcome.Ending = outcome.Ending{Kind: outcome.Kind(d.byte()), Code: int(d.varint())}
	r.Runs = int(d.varint())
	r.Cost = outcome.Cost{CPU: time.Duration(d.varint()), Wall: time.Duration(d.varint()), PeakRSS: d.varint()}
	return version, flags, r
}

// decoder takes values from the front of a record. Once something is missing
// short is set and all values are zero.
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

func (d *decoder) part() outcome.Part {
	bits := d.byte()
	if bits&^byte(bitsKnown) != 0 {
		d.short = true
	}
	p := outcome.Part{
		Form:  outcome.Form(bits >> formShift & 3),
		Exec:  bits&bitExec != 0,
		Flaky: bits&bitFlaky != 0,
	}
	p.Place = outcome.Place(bits & 3)
	p.Path = string(d.bytes(d.uvarint()))
	p.Size = int64(d.uvarint())
	if bits&bitDigest != 0 {
		copy(p.Digest[:], d.bytes(uint64(len(p.Digest))))
	}
	return p
}
