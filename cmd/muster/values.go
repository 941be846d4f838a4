package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	shellquote "github.com/kballard/go-shellquote"

	"muster/fileio"
	"muster/regress"
)

// setTimeout returns a function that sets the positive duration of a flag.
func setTimeout(to *time.Duration) func(string) error {
	return func(text string) error {
		d, err := time.ParseDuration(text)
		if err != nil || d <= 0 {
			return fmt.Errorf("%q is not a time for a case: times are 500ms, 10s, 2m", text)
		}
		*to = d
		return nil
	}
}

// size is a flag's number of bytes: 4096, 64K, 50M, 1G, 2T; 0 means that it is not given.
type size struct {
	bytes *int64
	zero  int64 // the value for a given 0; 0 if that is refused
}

const sizeUnits = "KMGT"

func (s *size) Set(text string) error {
	digits, unit := text, ""
	if n := len(text); n > 0 && strings.Contains(sizeUnits, strings.ToUpper(text[n-1:])) {
		digits, unit = text[:n-1], strings.ToUpper(text[n-1:])
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	shift := 0
	if unit != "" {
		shift = 10 * (1 + strings.Index(sizeUnits, unit))
	}
	if err != nil || n < 0 || n > math.MaxInt64>>shift || n == 0 && s.zero == 0 {
		return fmt.Errorf("%q is not a size: sizes are 4096, 64K, 50M, 1G", text)
	}
	if *s.bytes = n << shift; n == 0 {
		*s.bytes = s.zero
	}
	return nil
}

func (s *size) Type() string { return "SIZE" }

func (s *size) String() string {
	if s.bytes == nil || *s.bytes == 0 {
		return ""
	}
	n, unit := max(0, *s.bytes), ""
	for _, u := range sizeUnits {
		if n == 0 || n%1024 != 0 {
			break
		}
		n, unit = n/1024, string(u)
	}
	return strconv.FormatInt(n, 10) + unit
}

// commandWords is a flag's command, split as a shell would.
type commandWords []string

func (w *commandWords) Set(text string) (err error) {
	if text == "" {
		*w = nil
		return nil
	}
	*w, err = splitCommand("it", text)
	return err
}

func (w *commandWords) Type() string   { return "COMMAND" }
func (w *commandWords) String() string { return shellquote.Join(*w...) }

// choice is a flag's text that must be one of a few.
type choice[T ~string] struct {
	text   *T
	kind   string // names the text in the help
	wanted string // for errors: what the text is, and the possible ones
	all    []T
}

// newChoice gives the text its default, the first one of all.
func newChoice[T ~string](text *T, kind, wanted string, all ...T) *choice[T] {
	*text = all[0]
	return &choice[T]{text, kind, wanted, all}
}

func newFormat(f *regress.Format) *choice[regress.Format] {
	return newChoice(f, "FORMAT", "a format: text or json", regress.Text, regress.JSON)
}

func (c *choice[T]) Set(text string) error {
	if !slices.Contains(c.all, T(text)) {
		return fmt.Errorf("%q is not %s", text, c.wanted)
	}
	*c.text = T(text)
	return nil
}

func (c *choice[T]) Type() string   { return c.kind }
func (c *choice[T]) String() string { return string(*c.text) }

// numbers is a flag's list of whole numbers: 1,2,4 or 1e4,1e6.
type numbers []int

func (n *numbers) Set(text string) error {
	var list []int
	for one := range strings.SplitSeq(text, ",") {
		v, err := strconv.ParseFloat(one, 64)
		if err != nil || v != math.Trunc(v) || math.Abs(v) > 1e15 {
			return fmt.Errorf("%q is not a list of whole numbers: such are 1,2,4 and 1e4,1e6", text)
		}
		list = append(list, int(v))
	}
	*n = list
	return nil
}

func (n *numbers) Type() string { return "NUMBERS" }

func (n *numbers) String() string {
	var list []string
	for _, v := range *n {
		list = append(list, strconv.Itoa(v))
	}
	return strings.Join(list, ",")
}

// cachePrefixes are the folders of build caches in the manual: their files can be made again.
func cachePrefixes() []string {
	return []string{"ac/", "bazel/", "cas/", "ccache/", "gocache/", "sccache/"}
}

// prefixes is a flag's list of folders. The first value replaces the default.
type prefixes struct {
	list  *[]string
	given bool
}

func (p *prefixes) Set(text string) error {
	if !p.given {
		*p.list, p.given = nil, true
	}
	for folder := range strings.SplitSeq(text, ",") {
		folder = strings.TrimSuffix(folder, "/")
		if err := fileio.CheckName(folder); err != nil {
			return fmt.Errorf("%w: write a folder below /files/, such as ccache/", err)
		}
		*p.list = append(*p.list, folder+"/")
	}
	return nil
}

func (p *prefixes) Type() string { return "FOLDER" }

func (p *prefixes) String() string {
	if p.list == nil { // pflag asks a zero value
		return ""
	}
	return strings.Join(*p.list, ",")
}
