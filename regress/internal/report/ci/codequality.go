package ci

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"slices"

	"muster/internal/readable"
	"muster/regress"
	"muster/regress/internal/report"
	"muster/regress/internal/report/pending"
)

// CodeQualityMark begins every file of NewCodeQuality. Package console overwrites only files with such a
// mark. JSON has no comments, so the mark is a blank between [ and the newline.
const CodeQualityMark = "[ \n"

// Bounds of a report. GitLab reads the whole file for a page of 200 entries, and people read far less.
const (
	entriesMax          = 10_000
	causesOfCaseMax     = 10
	descriptionBytesMax = 500
)

// NewCodeQuality returns a Reporter that writes the code quality report of GitLab to path once the run is
// Finished. Each case that is not identical has an entry for each of its causes, or one for its verdict.
func NewCodeQuality(path string) (report.Reporter, error) {
	to, err := pending.New("--code-quality", path)
	if err != nil {
		return nil, err
	}
	return &codeQuality{to: to, causes: map[string][]int{}}, nil
}

type codeQuality struct {
	to      *pending.File
	started report.Started
	cases   []differingCase
	groups  []causeText
	causes  map[string][]int // indexes of groups, by case
}

// differingCase is a case that is not identical.
type differingCase struct {
	name    string
	index   int
	verdict regress.Verdict
}

// causeText is what the entries of a cause need.
type causeText struct {
	signature, name string
	cases           int
}

// An entry is one element of the report, with the keys of GitLab.
type entry struct {
	Description string   `json:"description"`
	CheckName   string   `json:"check_name"`
	Fingerprint string   `json:"fingerprint"`
	Severity    string   `json:"severity"`
	Location    location `json:"location"`
}

type location struct {
	Path  string `json:"path"`
	Lines lines  `json:"lines"`
}

type lines struct {
	Begin int `json:"begin"`
}

func (q *codeQuality) Handle(ev report.Event) error {
	switch ev := ev.(type) {
	case report.Started:
		*q = codeQuality{to: q.to, causes: map[string][]int{}, started: ev}
	case report.Case:
		if ev.Verdict != regress.Identical {
			q.cases = append(q.cases, differingCase{ev.Name, ev.Index, ev.Verdict})
		}
	case report.Group:
		for _, n := range ev.Members {
			q.causes[n] = append(q.causes[n], len(q.groups))
		}
		q.groups = append(q.groups, causeText{ev.Signature, ev.Name, ev.Cases})
	case report.Finished:
		return q.to.Replace(q.write)
	}
	return nil
}

func (q *codeQuality) Close() error { return q.to.Close() }

// write writes the report, with the cases in the order of the corpus.
func (q *codeQuality) write(to io.Writer) error {
	slices.SortStableFunc(q.cases, func(a, b differingCase) int {
		return cmp.Or(cmp.Compare(a.index, b.index), cmp.Compare(a.name, b.name))
	})
	w := bufio.NewWriter(to)
	w.WriteString(CodeQualityMark)
	written, more := 0, 0
	put := func(e entry) error {
		line, err := json.Marshal(e)
		if written++; written > 1 {
			w.WriteString(",\n")
		}
		w.Write(line)
		return err
	}
	for _, c := range q.cases {
		for _, e := range q.entries(c) {
			if written == entriesMax {
				more++
				continue
			}
			if err := put(e); err != nil {
				return err
			}
		}
	}
	if more > 0 {
		if err := put(q.entry(q.cases[0], "muster", "left out", readable.Count(more, "more finding")+": muster groups lists all causes")); err != nil {
			return err
		}
	}
	w.WriteString("\n]\n")
	return w.Flush()
}

// entries returns the entries of a case. A record judges no case, so it has none.
func (q *codeQuality) entries(c differingCase) (list []entry) {
	if q.started.Command == regress.RecordCommand {
		return nil
	}
	of := q.causes[c.name]
	for _, i := range of[:min(len(of), causesOfCaseMax)] {
		g := &q.groups[i]
		text := c.verdict.String() + ": " + g.name
		if others := g.cases - 1; others > 0 {
			text += " (also in " + readable.Count(others, "other case") + ")"
		}
		list = append(list, q.entry(c, "muster "+c.verdict.String(), g.signature, text))
	}
	if len(list) == 0 {
		list = append(list, q.entry(c, "muster "+c.verdict.String(), c.verdict.Key(), c.verdict.String()+": "+meaning(c.verdict)))
	}
	return list
}

// entry returns the entry of a case for one reason. The fingerprint does not depend on the run: GitLab
// shows an entry as new if the target branch has none with its fingerprint.
func (q *codeQuality) entry(c differingCase, check, reason, text string) entry {
	sum := sha256.Sum256([]byte(reason + "\x00" + c.name))
	return entry{
		Description: readable.Clip(readable.Line(text), descriptionBytesMax), CheckName: check, Fingerprint: hex.EncodeToString(sum[:]),
		Severity: q.severity(c.verdict),
		Location: location{sourcePath(q.started, c.name), lines{1}},
	}
}

// severity returns a verdict in the five words of GitLab.
func (q *codeQuality) severity(v regress.Verdict) string {
	switch {
	case !q.started.Fails(v):
		return "info"
	case v == regress.EnvironmentFailed:
		return "blocker"
	case v < regress.NewlyPassing: // a crash, a limit, or a new failure
		return "critical"
	case v == regress.Changed || v == regress.NewlyPassing:
		return "major"
	}
	return "minor"
}
