// Package outcome holds the result of one run of a case: its ending and its parts. It compares
// two such results and gives the verdict. It is pure: no disk, no clock, no process.
package outcome

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"time"

	"muster/regress"
)

// Digest is the SHA-256 of some content. The zero Digest means "none".
type Digest [sha256.Size]byte

// Of returns the digest of content.
func Of(content []byte) Digest { return sha256.Sum256(content) }

// String returns the digest in hexadecimal.
func (d Digest) String() string {
	var text [2 * len(d)]byte // hex.EncodeToString would allocate twice
	hex.Encode(text[:], d[:])
	return string(text[:])
}

// MarshalText writes the digest in hexadecimal.
func (d Digest) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (d *Digest) UnmarshalText(text []byte) error {
	if len(text) != hex.EncodedLen(len(d)) {
		return fmt.Errorf("digest %q has not %d hexadecimal digits", text, hex.EncodedLen(len(d)))
	}
	_, err := hex.Decode(d[:], text)
	return err
}

// Place is where a part of an outcome was found.
type Place uint8

// The closed set of places.
const (
	Stdout Place = iota
	Stderr
	File
)

// Key names one part. Two outcomes are compared key by key. Path is the file's name below the
// work folder, in raw bytes. It is empty for the two streams.
type Key struct {
	Place Place
	Path  string
}

// String returns "stdout", "stderr" or the raw path.
func (k Key) String() string {
	switch k.Place {
	case Stdout:
		return "stdout"
	case Stderr:
		return "stderr"
	}
	return k.Path
}

// Form is the kind of a part. A stream is Regular or Ignored.
type Form uint8

// The closed set of forms.
const (
	Regular Form = iota
	Symlink      // the content is the link's target
	Gone         // a given file that the case removed; no content
	Ignored      // a part or stream that is never compared; no content
)

// Part is one stream or file that a case left.
type Part struct {
	Key
	Form   Form
	Exec   bool  // executable bit of a regular file, for its owner
	Size   int64 // of the content, in bytes
	Digest Digest

	// A flaky part differs from run to run. It is kept, but its content is not compared. Seen
	// holds the shapes that it had in all runs. Variants holds its contents in runs other than
	// the kept one.
	Flaky    bool
	Seen     Shapes    // 0 exactly where Flaky is false
	Variants []Variant // distinct, at most VariantsMax
}

// Left reports whether the kept run left the part. A flaky part that only other runs left has
// no digest.
func (p *Part) Left() bool { return p.Form >= Gone || p.Digest != Digest{} }

// same reports whether two parts are equal, flaky marks aside.
func (p *Part) same(q *Part) bool {
	return p.Form == q.Form && p.Exec == q.Exec && p.Digest == q.Digest
}

// Outcome is everything that is compared about one run of one case, or about several runs that
// Merge joined. Then the parts are those of one of them, the kept run. Both streams are always
// among the parts. The parts are sorted by key.
type Outcome struct {
	Ending regress.Ending
	// Others are the endings of the other runs: sorted, distinct, and without Ending. A limit
	// may be among them even if Ending is complete.
	Others []regress.Ending
	// ByStatus means that an engine reported the ending by an exit status that also stands for
	// another ending. It is not part of the digest. Only Settle reads it.
	ByStatus bool
	Parts    []Part
}

// Sort sorts the parts by key.
func (o *Outcome) Sort() {
	slices.SortFunc(o.Parts, func(a, b Part) int { return compareKeys(a.Key, b.Key) })
}

func compareKeys(a, b Key) int {
	return cmp.Or(cmp.Compare(a.Place, b.Place), cmp.Compare(a.Path, b.Path))
}

// Part returns the part with that key.
func (o *Outcome) Part(k Key) (Part, bool) {
	i, ok := o.find(k)
	if !ok {
		return Part{}, false
	}
	return o.Parts[i], true
}

func (o *Outcome) find(k Key) (int, bool) {
	return slices.BinarySearchFunc(o.Parts, k, func(p Part, k Key) int { return compareKeys(p.Key, k) })
}

// EndingFlaky reports whether the case ended in more than one way, or whether a limit ended
// some of its runs.
func (o *Outcome) EndingFlaky() bool { return len(o.Others) > 0 }

// Flaky reports whether a part or the ending is flaky.
func (o *Outcome) Flaky() bool {
	return o.EndingFlaky() || slices.ContainsFunc(o.Parts, func(p Part) bool { return p.Flaky })
}

// IsSilent reports whether an outcome has nothing but its ending: both streams are empty, and there is no file.
func (o *Outcome) IsSilent() bool {
	return !slices.ContainsFunc(o.Parts, func(p Part) bool { return p.Place == File || p.Size > 0 || p.Flaky })
}

// Kept returns the kept run as if it had been the only one. It shares contents with o and must
// not be changed.
func (o *Outcome) Kept() *Outcome {
	if !o.Flaky() {
		return o
	}
	kept := &Outcome{Ending: o.Ending, ByStatus: o.ByStatus}
	for _, p := range o.Parts {
		if p.Left() {
			p.Flaky, p.Seen, p.Variants = false, 0, nil
			kept.Parts = append(kept.Parts, p)
		}
	}
	return kept
}

// Digest returns the digest of everything that is compared. For a flaky part that is the shapes
// that it had, and for a flaky ending the endings. Two outcomes without flaky parts have the
// same digest exactly if they are equal. The parts must be sorted.
func (o *Outcome) Digest() Digest {
	var space [1 << 10]byte // enough for most outcomes
	b := append(space[:0], "outcome 1\n"...)
	b = appendEnding(b, o.Ending)
	for _, e := range o.Others {
		b = appendEnding(append(b, "or "...), e)
	}
	if o.Ending.Partial() {
		return Of(b)
	}
	for i := range o.Parts {
		b = o.Parts[i].appendTo(b)
	}
	return Of(b)
}

func appendEnding(b []byte, e regress.Ending) []byte {
	b = strconv.AppendUint(b, uint64(e.Kind), 10)
	b = append(b, ' ')
	b = strconv.AppendInt(b, int64(e.Code), 10)
	return append(b, '\n')
}

// appendTo appends the input of Digest.
func (p *Part) appendTo(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(len(p.Path)))
	b = append(b, p.Path...)
	b = append(b, ' ')
	b = strconv.AppendUint(b, uint64(p.Place), 10)
	if p.Flaky {
		b = append(b, " flaky "...)
		return append(strconv.AppendUint(b, uint64(p.Seen), 10), '\n')
	}
	b = append(b, ' ')
	b = strconv.AppendUint(b, uint64(p.Form), 10)
	b = append(b, ' ')
	b = strconv.AppendBool(b, p.Exec)
	b = append(b, ' ')
	b = hex.AppendEncode(b, p.Digest[:])
	return append(b, '\n')
}

// Cost is the cost of one run of a case.
type Cost struct {
	CPU     time.Duration `json:"cpu_ms"` // user + system, of every process of the case's tree
	Wall    time.Duration `json:"wall_ms"`
	PeakRSS int64         `json:"peak_rss_kib"` // KiB, of the largest single process of the tree; never below the lane's floor
}

// EndingPart stands for the ending in lists of parts.
const EndingPart = "ending"

// PartName returns the name of a part in reports: "stdout", "stderr" or the raw path. A file
// with one of the reserved names gets the prefix "./", which no path has.
func PartName(k Key) string {
	if k.Place == File && (k.Path == "stdout" || k.Path == "stderr" || k.Path == EndingPart) {
		return "./" + k.Path
	}
	return k.String()
}

// signalBase is added to a signal's number to form an exit status, by shells and by engines.
const (
	signalBase = 128
	signalMax  = 64
)

// SignalOf returns the signal that a shell reports as this exit status.
func SignalOf(status int) (signal int, ok bool) {
	return status - signalBase, status > signalBase && status <= signalBase+signalMax
}

// HasTwoReadings reports whether e shares its exit status with another ending: a signal, and
// the exit that a shell makes of it.
func HasTwoReadings(e regress.Ending) bool {
	_, is := SignalOf(statusOf(e))
	return is
}

// statusOf returns the exit status by which an engine reports an ending, or 0 if it has another
// form for it.
func statusOf(e regress.Ending) int {
	switch e.Kind {
	case regress.Exited:
		return e.Code
	case regress.Signalled:
		return signalBase + e.Code
	}
	return 0
}

// Settle resolves an ambiguous exit status of o, a further outcome of a case. If an engine
// reported either outcome, and an ending of old is another reading of the same status, o gets
// that ending. Nothing shows that the two differ.
func (o *Outcome) Settle(old *Outcome) {
	if !o.ByStatus && !old.ByStatus || !HasTwoReadings(o.Ending) || old.EndedAs(o.Ending) {
		return
	}
	for _, e := range append([]regress.Ending{old.Ending}, old.Others...) {
		if HasTwoReadings(e) && statusOf(e) == statusOf(o.Ending) {
			o.Ending, o.ByStatus = e, true
			return
		}
	}
}

// EngineRun is the account that an engine gives of a run. For a cached result it is the account
// of the original run. Values that the engine does not report are zero. A nil *EngineRun stands
// for a run on this machine.
type EngineRun struct {
	Cached     bool          `json:"cached"`                // the engine had the result in its cache
	Worker     string        `json:"worker" name:"printed"` // name of the worker that ran it, raw bytes
	Queued     time.Duration `json:"queued_ns"`             // time until a worker took it
	QueueKnown bool          `json:"queue_told"`            // whether Queued is known
	Took       time.Duration `json:"took_ns"`               // of the command alone
	Measured   bool          `json:"measured"`              // CPU time and peak memory come from the engine; else they are unknown
	// Asked is the time from the request until the result was here, by this machine's clock.
	// It is 0 for a cached result.
	Asked time.Duration `json:"asked_ns"`
}

// IsMeasured reports whether the CPU time and the peak memory of the run are known.
func (r *EngineRun) IsMeasured() bool { return r == nil || r.Measured }

// content returns what the kept run left of a part.
func (p *Part) content() Variant { return Variant{p.Form, p.Exec, p.Size, p.Digest} }

// Variant is a flaky part in a run other than the kept one.
type Variant struct {
	Form   Form // never Gone
	Exec   bool
	Size   int64
	Digest Digest
}

// As returns a part with the given key and the content of the variant.
func (v Variant) As(k Key) Part {
	return Part{Key: k, Form: v.Form, Exec: v.Exec, Size: v.Size, Digest: v.Digest}
}

// EndedAs reports whether some run ended in this way.
func (o *Outcome) EndedAs(e regress.Ending) bool {
	return e == o.Ending || slices.Contains(o.Others, e)
}
