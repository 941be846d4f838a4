package golden

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"muster/regress"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
)

// Record is what a store holds for one case.
type Record struct {
	Name    string
	Outcome outcome.Outcome
	Cost    outcome.Cost // of the first run
	Runs    int          // the number of runs behind the outcome; 0 if unknown
	// Equal is used in the store of a run: the number of runs that equalled the outcome they were
	// compared with. It is 0 in a golden.
	Equal  int
	Source outcome.Digest // digest of the case's source when the outcome was made; zero if unknown
	// Origin is 0 if the outcome comes from the record that made the golden. Otherwise it is
	// one more than the index of its accept in Meta.Accepts.
	Origin int
}

// HasContent reports whether a store keeps content for p. It keeps none for parts that are gone or
// ignored. Nor does it for parts that the caller marked with the zero digest: flaky parts that only
// a later run left, or content that was not kept.
func HasContent(p outcome.Part) bool {
	return p.Form < outcome.Gone && p.Digest != outcome.Digest{}
}

// WithContent returns the parts of an outcome whose content a store keeps. Variants follow their
// flaky part, as parts with the same key.
func WithContent(o *outcome.Outcome) iter.Seq[outcome.Part] {
	return func(yield func(outcome.Part) bool) {
		for _, p := range o.Parts {
			if HasContent(p) && !yield(p) {
				return
			}
			for _, v := range p.Variants {
				if one := v.As(p.Key); HasContent(one) && !yield(one) {
					return
				}
			}
		}
	}
}

// The encoding of a record, which is a row's content and so part of the
// file's format:
//
//	version, flags, kind of ending   one byte each
//	code of the ending               varint
//	runs, CPU ns, wall ns, RSS KiB   varint each
//	equal, origin                    uvarint each
//	source                           32 bytes, only with flagSource
//	number of other endings          uvarint, then for each ending
//	    kind                         one byte
//	    code                         varint
//	number of parts                  uvarint, then for each part
//	    place | form << 2 | bits     one byte
//	    path                         uvarint length, bytes
//	    size                         uvarint
//	    digest                       32 bytes, only with bitDigest
//	    shapes seen                  one byte, only with bitFlaky, as is the rest
//	    number of variants           uvarint, then for each variant
//	        form << 2 | bits         one byte
//	        size                     uvarint
//	        digest                   32 bytes, only with bitDigest
//	sum                              sumBytes of the SHA-256 over the name and all this
const recordVersion = 2

const (
	flagFlaky = 1 << (iota + 1) // the ending or some part: at a fixed place, so that opening need not decode
	flagSource
	flagByStatus
	flagsKnown = flagFlaky | flagSource | flagByStatus
)

const (
	formShift = 2
	bitExec   = 1 << (iota + 3)
	bitFlaky
	bitDigest
	bitsKnown = bitDigest<<1 - 1
)

// flagsAt is the offset of a record's flags.
const flagsAt = 1

// sumBytes is the length of a record's own sum. The digest over all rows detects every damage. The
// sums show a repair which rows are whole.
const sumBytes = 8

// ErrRecord is returned by Put for a record that no run can produce.
var ErrRecord = errors.New("not a possible outcome")

// canonical returns r with its parts in order, or an error if the outcome could not be read back.
func canonical(r Record) (Record, error) {
	r.Outcome.Parts = slices.Clone(r.Outcome.Parts)
	r.Outcome.Sort()
	if r.Name == "" {
		return r, fmt.Errorf("%w: its name is empty", ErrRecord)
	}
	if err := checkRecord(&r); err != nil {
		return r, fmt.Errorf("%w: case %s: %w", ErrRecord, name.Print(r.Name), err)
	}
	return r, nil
}

// rowOf returns the row for a canonical record in the table outcome.
func rowOf(r Record) row {
	digest := r.Outcome.Digest()
	return row{[]byte(r.Name), digest[:], encodeRecord(r)}
}

// encodeRecord encodes a canonical record without its name.
func encodeRecord(r Record) []byte {
	o := &r.Outcome
	b := make([]byte, 0, 64+48*len(o.Parts))
	b = append(b, recordVersion, recordFlags(&r), byte(o.Ending.Kind))
	b = binary.AppendVarint(b, int64(o.Ending.Code))
	b = binary.AppendVarint(b, int64(r.Runs))
	b = binary.AppendVarint(b, int64(r.Cost.CPU))
	b = binary.AppendVarint(b, int64(r.Cost.Wall))
	b = binary.AppendVarint(b, r.Cost.PeakRSS)
	b = binary.AppendUvarint(b, uint64(r.Equal))
	b = binary.AppendUvarint(b, uint64(r.Origin))
	if r.Source != (outcome.Digest{}) {
		b = append(b, r.Source[:]...)
	}
	b = binary.AppendUvarint(b, uint64(len(o.Others)))
	for _, e := range o.Others {
		b = binary.AppendVarint(append(b, byte(e.Kind)), int64(e.Code))
	}
	b = binary.AppendUvarint(b, uint64(len(o.Parts)))
	for i := range o.Parts {
		b = appendPart(b, &o.Parts[i])
	}
	return append(b, recordSum(r.Name, b)...)
}

// recordSum returns the sum of an encoded record. encoded must not contain the sum yet.
func recordSum(caseName string, encoded []byte) []byte {
	h := sha256.New()
	h.Write(binary.AppendUvarint(nil, uint64(len(caseName))))
	h.Write([]byte(caseName))
	h.Write(encoded)
	return h.Sum(nil)[:sumBytes]
}

func recordFlags(r *Record) byte {
	o := &r.Outcome
	return bitIf(o.Flaky(), flagFlaky) | bitIf(r.Source != outcome.Digest{}, flagSource) | bitIf(o.ByStatus, flagByStatus)
}

func bitIf(is bool, bit byte) byte {
	if is {
		return bit
	}
	return 0
}

func appendPart(b []byte, p *outcome.Part) []byte {
	b = append(b, byte(p.Place)|bitIf(p.Flaky, bitFlaky)|contentBits(p.Form, p.Exec, p.Digest))
	b = binary.AppendUvarint(b, uint64(len(p.Path)))
	b = append(b, p.Path...)
	b = appendContent(b, p.Size, p.Digest)
	if !p.Flaky {
		return b
	}
	b = append(b, byte(p.Seen))
	b = binary.AppendUvarint(b, uint64(len(p.Variants)))
	for _, v := range p.Variants {
		b = append(b, contentBits(v.Form, v.Exec, v.Digest))
		b = appendContent(b, v.Size, v.Digest)
	}
	return b
}

func contentBits(form outcome.Form, exec bool, digest outcome.Digest) byte {
	return byte(form)<<formShift | bitIf(exec, bitExec) | bitIf(digest != outcome.Digest{}, bitDigest)
}

func appendContent(b []byte, size int64, digest outcome.Digest) []byte {
	b = binary.AppendUvarint(b, uint64(size))
	if digest != (outcome.Digest{}) {
		b = append(b, digest[:]...)
	}
	return b
}

// decodeRecord reads a record. Every error means that the record is damaged, or that
// its outcome does not match the digest.
func decodeRecord(caseName string, data []byte, digest outcome.Digest) (r Record, err error) {
	d := decoder{rest: data}
	switch version := d.byte(); {
	case version != recordVersion:
		return Record{}, fmt.Errorf("record version %d", version)
	case len(data) < sumBytes || !bytes.Equal(recordSum(caseName, data[:len(data)-sumBytes]), data[len(data)-sumBytes:]):
		return Record{}, errors.New("record does not match its sum")
	}
	d.rest = d.rest[:len(d.rest)-sumBytes]
	if r, err = d.record(); err == nil && r.Outcome.Digest() != digest {
		err = errors.New("outcome does not match its digest")
	}
	if err == nil {
		err = checkRecord(&r)
	}
	if err != nil {
		return Record{}, err
	}
	r.Name = caseName
	return r, nil
}

// record decodes the fields between the version and the sum.
func (d *decoder) record() (Record, error) {
	flags, r := d.head()
	for range d.times {
		r.Outcome.Others = append(r.Outcome.Others, d.ending())
	}
	for range d.times {
		r.Outcome.Parts = append(r.Outcome.Parts, d.part())
	}
	switch {
	case d.short || len(d.rest) > 0 || flags&^byte(flagsKnown) != 0:
		return Record{}, errors.New("record of a wrong length or form")
	case flags != recordFlags(&r):
		return Record{}, errors.New("record with wrong flags")
	}
	return r, nil
}

// headOf decodes the fields of a record before its endings and parts. It returns zero values for a
// damaged record. Decoding the whole record reports the damage.
func headOf(record []byte) (flags byte, r Record) {
	d := decoder{rest: record}
	d.byte() // the version
	flags, r = d.head()
	r.Cost.Wall = max(0, r.Cost.Wall)
	return flags, r
}

// head decodes the fields between the version and the other endings.
func (d *decoder) head() (flags byte, r Record) {
	flags = d.byte()
	r.Outcome.Ending = d.ending()
	r.Runs = int(d.varint())
	r.Cost = outcome.Cost{CPU: time.Duration(d.varint()), Wall: time.Duration(d.varint()), PeakRSS: d.varint()}
	r.Outcome.ByStatus = flags&flagByStatus != 0
	r.Equal, r.Origin = int(d.uvarint()), int(d.uvarint())
	if flags&flagSource != 0 {
		r.Source = d.digest()
	}
	return flags, r
}

func (d *decoder) ending() regress.Ending {
	return regress.Ending{Kind: regress.EndingKind(d.byte()), Code: int(d.varint())}
}

func (d *decoder) part() outcome.Part {
	bits := d.bits()
	p := outcome.Part{Flaky: bits&bitFlaky != 0}
	p.Place = outcome.Place(bits & (1<<formShift - 1))
	p.Path = string(d.bytes(d.uvarint()))
	v := d.content(bits)
	p.Form, p.Exec, p.Size, p.Digest = v.Form, v.Exec, v.Size, v.Digest
	if !p.Flaky {
		return p
	}
	p.Seen = outcome.Shapes(d.byte())
	for range d.times {
		p.Variants = append(p.Variants, d.variant())
	}
	return p
}

func (d *decoder) bits() byte {
	bits := d.byte()
	if bits&^byte(bitsKnown) != 0 {
		d.short = true
	}
	return bits
}

func (d *decoder) variant() outcome.Variant {
	bits := d.bits()
	if bits&(bitFlaky|1<<formShift-1) != 0 {
		d.short = true
	}
	return d.content(bits)
}

// content decodes the common fields of a part and a variant.
func (d *decoder) content(bits byte) outcome.Variant {
	v := outcome.Variant{
		Form: outcome.Form(bits >> formShift & 3), Exec: bits&bitExec != 0, Size: int64(d.uvarint()),
	}
	if bits&bitDigest != 0 {
		v.Digest = d.digest()
	}
	return v
}
