// Package plan decides which cases run, and in which order. It is pure: it sees names and numbers,
// and touches no disk, clock or process.
package plan

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

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

// All reports whether the selection selects everything.
func (s Selection) All() bool { return len(s.Flags()) == 0 }

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
