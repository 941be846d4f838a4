package test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// figures are the limits of a package.
type figures struct {
	files   int // Go files without tests and generated code
	methods int // of one type
	cycle   int // files that need each other; 0 = no cycle
}

// wanted applies to each package that crowded does not list.
var wanted = figures{files: 15, methods: 15}

// fileMax bounds the lines of a file in such a package.
const fileMax = 400

// crowded lists the packages that exceed wanted, with their present figures. A figure may only
// fall. A package leaves the list when it has what is wanted.
var crowded = map[string]figures{
	"muster/cmd/muster":                            {files: 20, methods: 51, cycle: 20},
	"muster/fileio":                                {methods: 23, cycle: 4},
	"muster/fileio/uring":                          {methods: 17, cycle: 3},
	"muster/files":                                 {cycle: 6},
	"muster/files/load":                            {cycle: 6},
	"muster/internal/fair":                         {methods: 17},
	"muster/lab":                                   {files: 19, methods: 36, cycle: 4},
	"muster/lab/results":                           {methods: 16},
	"muster/pool":                                  {methods: 24},
	"muster/regress/internal/cause":                {methods: 45, cycle: 5},
	"muster/regress/internal/cause/edit":           {methods: 33, cycle: 9},
	"muster/regress/internal/corpus":               {methods: 17, cycle: 9},
	"muster/regress/internal/cost":                 {cycle: 2},
	"muster/regress/internal/diff":                 {cycle: 5},
	"muster/regress/internal/exec/local":           {methods: 28, cycle: 8},
	"muster/regress/internal/exec/reapi":           {methods: 16, cycle: 7},
	"muster/regress/internal/exec/reapi/bundle":    {cycle: 4},
	"muster/regress/internal/exec/reapi/client":    {methods: 42, cycle: 9},
	"muster/regress/internal/exec/reapi/reapitest": {methods: 44, cycle: 5},
	"muster/regress/internal/exec/reapi/tree":      {cycle: 4},
	"muster/regress/internal/golden":               {methods: 22, cycle: 13},
	"muster/regress/internal/outcome":              {methods: 19},
	"muster/regress/internal/report":               {files: 18, methods: 19, cycle: 15},
	"muster/regress/internal/review":               {methods: 33, cycle: 3},
	"muster/regress/internal/review/terminal":      {methods: 56, cycle: 8},
	"muster/regress/internal/review/web":           {methods: 27, cycle: 7},
	"muster/regress/internal/shrink":               {cycle: 3},
	"muster/regress/internal/state":                {methods: 18},
	"muster/regress/lane":                          {files: 18, methods: 30, cycle: 8},
}

// TestRooms keeps every package small enough to read: few files, no cycle between them, and no
// type with many methods.
func TestRooms(t *testing.T) {
	listed := list(t, []string{"./..."})
	exports := map[string]string{}
	for _, p := range listed {
		exports[p.ImportPath] = p.Export
	}
	seen := map[string]bool{}
	for _, p := range listed {
		if p.DepOnly || len(p.files()) == 0 {
			continue
		}
		s, err := measureStructure(p, exports)
		if err != nil {
			t.Fatalf("%s: %v", p.ImportPath, err)
		}
		seen[p.ImportPath] = true
		limits, isCrowded := crowded[p.ImportPath]
		failures, lower := s.compare(limits)
		if s.longest > fileMax && !isCrowded {
			failures = append(failures, fmt.Sprintf("%s has a file of %d lines, more than %d: split it", s.path, s.longest, fileMax))
		}
		for _, failure := range failures {
			t.Error(failure)
		}
		for _, text := range lower {
			t.Log(text)
		}
	}
	for path := range crowded {
		if !seen[path] {
			t.Errorf("crowded in structure_rooms_test.go lists %s, which has no Go files: remove it", path)
		}
	}
}

// compare returns the figures of a package that are too high, and the listed figures that can be
// lowered. A figure of 0 in listed stands for the wanted one.
func (s *structure) compare(listed figures) (failures, lower []string) {
	has := s.figures()
	for _, f := range []struct {
		name                string
		has, listed, wanted int
		mend                string
	}{
		{"files", has.files, listed.files, wanted.files, "move what belongs together to a package of its own"},
		{"methods", has.methods, listed.methods, wanted.methods, "make a type of the fields that some methods share, or a function of a method"},
		{"cycle", has.cycle, listed.cycle, wanted.cycle, "move what files need of each other to a file of its own (go test -run TestStructure -v ./test -packages " + s.path + ")"},
	} {
		limit := max(f.listed, f.wanted)
		switch {
		case f.has > limit:
			failures = append(failures, fmt.Sprintf("%s: %s is %d, the limit %d: %s", s.path, f.name, f.has, limit, f.mend))
		case f.listed > 0 && f.has <= f.wanted:
			lower = append(lower, fmt.Sprintf("%s: %s is %d now: remove %s: %d from crowded in structure_rooms_test.go", s.path, f.name, f.has, f.name, f.listed))
		case f.has < f.listed:
			lower = append(lower, fmt.Sprintf("%s: %s is %d now: lower %s: %d in crowded in structure_rooms_test.go", s.path, f.name, f.has, f.name, f.listed))
		}
	}
	return failures, lower
}

// figures returns the largest figures of a package.
func (s *structure) figures() figures {
	f := figures{files: s.files}
	for _, n := range s.methods {
		f.methods = max(f.methods, n)
	}
	if len(s.cycles) > 0 {
		f.cycle = len(s.cycles[0])
	}
	return f
}

// A package that grows fails the test. A listed figure that could be lowered is reported.
func TestRoomsCompare(t *testing.T) {
	s := &structure{path: "p", files: 20, methods: map[string]int{"T": 15}}
	for _, c := range []struct {
		listed figures
		want   string
	}{
		{figures{}, "p: files is 20, the limit 15: move what belongs together to a package of its own"},
		{figures{files: 19}, "p: files is 20, the limit 19: move what belongs together to a package of its own"},
		{figures{files: 20}, ""},
		{figures{files: 21}, "p: files is 20 now: lower files: 21 in crowded in structure_rooms_test.go"},
		{figures{files: 20, methods: 16}, "p: methods is 15 now: remove methods: 16 from crowded in structure_rooms_test.go"},
	} {
		failures, lower := s.compare(c.listed)
		if got := strings.Join(slices.Concat(failures, lower), ""); got != c.want {
			t.Errorf("%+v: %q, not %q", c.listed, got, c.want)
		}
	}
}
