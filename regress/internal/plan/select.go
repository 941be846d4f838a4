// Package plan decides which cases run, and in which order. It is pure: it sees names and numbers,
// and touches no disk, clock or process.
package plan

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/bits"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"muster/regress/internal/glob"
	"muster/regress/internal/name"
)

// Selection selects cases. The zero value selects all.
type Selection struct {
	Globs     []string // a case must match at least one, if any are given
	Filters   []string // RE2 on the printed name; every one must match, "!RE" must not
	Partition string   // "hash:K/N": the K-th of N parts, by the name's digest
	Sample    int      // the largest number of cases, always the same ones; 0 = all
}

// Flags returns the selection as arguments of the command line.
func (s Selection) Flags() (args []string) {
	for _, g := range s.Globs {
		args = append(args, "--cases", g)
	}
	for _, f := range s.Filters {
		args = append(args, "--filter", f)
	}
	if s.Partition != "" {
		args = append(args, "--partition", s.Partition)
	}
	if s.Sample > 0 {
		args = append(args, "--sample", strconv.Itoa(s.Sample))
	}
	return args
}

// Chooser is a compiled Selection.
type Chooser struct {
	globs   []string
	filters []filter
	part    uint64
	parts   uint64
	sample  int
}

type filter struct {
	re  *regexp.Regexp
	not bool
}

// Compile checks a selection.
func (s Selection) Compile() (*Chooser, error) {
	c := &Chooser{globs: s.Globs, sample: s.Sample}
	for _, g := range s.Globs {
		if _, err := glob.Match(g, "x"); err != nil {
			return nil, fmt.Errorf("--cases %q: %w", g, err)
		}
	}
	for _, text := range s.Filters {
		body, not := strings.CutPrefix(text, "!")
		re, err := regexp.Compile(body)
		if err != nil {
			return nil, fmt.Errorf("--filter %q: %w", text, err)
		}
		c.filters = append(c.filters, filter{re, not})
	}
	if s.Sample < 0 {
		return nil, fmt.Errorf("--sample %d: give a number of cases", s.Sample)
	}
	var err error
	c.part, c.parts, err = parsePartition(s.Partition)
	return c, err
}

func parsePartition(text string) (k, n uint64, err error) {
	if text == "" {
		return 1, 1, nil
	}
	body, ok := strings.CutPrefix(text, "hash:")
	left, right, cut := strings.Cut(body, "/")
	k, err1 := strconv.ParseUint(left, 10, 32)
	n, err2 := strconv.ParseUint(right, 10, 32)
	if !ok || !cut || err1 != nil || err2 != nil || k < 1 || k > n {
		return 0, 0, fmt.Errorf("--partition %q: the form is hash:K/N with K from 1 to N, as in hash:1/4", text)
	}
	return k, n, nil
}

// Wants reports whether globs, filters and partition select a name. It ignores the sample, which
// depends on the other names.
func (c *Chooser) Wants(caseName string) bool {
	if len(c.globs) > 0 && !slices.ContainsFunc(c.globs, func(g string) bool {
		ok, err := glob.Match(g, caseName)
		return err == nil && ok
	}) {
		return false
	}
	printed := name.Print(caseName)
	for _, f := range c.filters {
		if f.re.MatchString(printed) == f.not {
			return false
		}
	}
	return c.parts == 1 || hash(caseName)%c.parts == c.part-1
}

// hash spreads names evenly, and equally on every machine.
func hash(caseName string) uint64 {
	sum := sha256.Sum256([]byte(caseName))
	return binary.BigEndian.Uint64(sum[:])
}

func sampleKey(caseName string) string {
	sum := sha256.Sum256([]byte("sample\x00" + caseName))
	return string(sum[:])
}

// Baseline holds a golden's cases and its recorded selection. The zero Baseline has no cases and
// selects everything.
type Baseline struct {
	Names    []string // of its cases, sorted
	Selected *Chooser // the selection of the record; nil = everything
}

// selects reports whether the recorded selection wants a name. It ignores the
// recorded sample.
func (b Baseline) selects(caseName string) bool {
	return b.Selected == nil || b.Selected.Wants(caseName)
}

func (b Baseline) isSampled() bool { return b.Selected != nil && b.Selected.sample > 0 }

// Choice is the choice of cases for a run.
type Choice struct {
	Run        []int    // indexes in the corpus, ascending
	Missing    []string // wanted cases of the baseline that the corpus lacks, sorted
	NotSampled int      // cases of the corpus that only the recorded sample leaves out
}

// Choose returns the names of the corpus that run, and the names of the baseline that the corpus
// lacks. Both c and the baseline must want a name. A sample of c is drawn last, from the names of
// corpus and baseline together. So no other case replaces a case that the corpus lost.
//
// The baseline admits all names that it has, including those accepted from outside the selection.
// Unless a sample was recorded, it also admits the other names that the recorded selection wants.
func (c *Chooser) Choose(names []string, b Baseline) Choice {
	var choice Choice
	wanted, present := make([]int, 0, len(names)), make([]bool, len(b.Names)) // wanted has i for names[i], and ^i for b.Names[i]
	for i, n := range names {
		place, known := slices.BinarySearch(b.Names, n)
		if known {
			present[place] = true
		}
		switch {
		case !c.Wants(n):
		case known || b.selects(n) && !b.isSampled():
			wanted = append(wanted, i)
		case b.selects(n):
			choice.NotSampled++
		}
	}
	for i, n := range b.Names {
		if !present[i] && c.Wants(n) {
			wanted = append(wanted, ^i)
		}
	}
	wanted = c.drawSample(wanted, func(i int) string {
		if i < 0 {
			return b.Names[^i]
		}
		return names[i]
	})
	slices.Sort(wanted)
	lacking, _ := slices.BinarySearch(wanted, 0)
	choice.Run = wanted[lacking:]
	for _, i := range slices.Backward(wanted[:lacking]) {
		choice.Missing = append(choice.Missing, b.Names[^i])
	}
	return choice
}

// drawSample returns the cases with the lowest digests of a second hash. So a sample does not change when
// other names come and go, and is independent of the partition.
func (c *Chooser) drawSample(all []int, nameOf func(int) string) []int {
	if c.sample == 0 || len(all) <= c.sample {
		return all
	}
	type keyed struct {
		index int
		key   string
	}
	list := make([]keyed, len(all))
	for i, index := range all {
		list[i] = keyed{index, sampleKey(nameOf(index))}
	}
	slices.SortFunc(list, func(a, b keyed) int { return strings.Compare(a.key, b.key) })
	for i := range c.sample {
		all[i] = list[i].index
	}
	return all[:c.sample]
}

// short is the longest duration of a case that runs at its place in the corpus. There the folders
// of its neighbours and the source on disk are at hand. At the end of a run nobody waits longer
// than that for the last case.
const short = 64 * time.Millisecond

// Order returns the indexes of cases in the order in which they run. Cases that isFirst chooses come
// before all others. Then longer cases come before shorter ones, so that none keeps one lane busy
// when the others have nothing left (Graham's longest processing time first). took is the last
// duration of each case, 0 if unknown; it may be nil. Cases within a factor of two stay in corpus
// order, and so do short ones.
func Order(cases int, isFirst func(i int) bool, took []time.Duration) []int {
	rank, ordered := make([]uint8, cases), make([]int, cases)
	for i := range cases {
		ordered[i] = i
		if took != nil {
			rank[i] = uint8(bits.Len64(uint64(max(0, took[i]) / short)))
		}
		if isFirst(i) {
			rank[i] += 1 + 64 // more than bits.Len64 returns
		}
	}
	slices.SortStableFunc(ordered, func(a, b int) int { return cmp.Compare(rank[b], rank[a]) })
	return ordered
}
