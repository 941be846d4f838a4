package report

import (
	"encoding/json"
	"io"
	"slices"
	"time"

	"muster/internal/readable"
	"muster/regress"
	"muster/regress/internal/cause"
	"muster/regress/internal/cost"
	"muster/regress/internal/fault"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
)

// Event is one thing that happened in a run. The types of this file, and no others, are events.
// A run is Started, then any number of others, then Finished. The tags of the fields give the
// keys of the event's line (see lines.go).
type Event interface{ kind() string }

// Started opens a run. A second one begins the run again, because a file of the tool changed. Of the events before it,
// only notes still count. Cases that keep their verdicts are among Resumed.
type Started struct {
	Command string            `json:"command"`          // "record", "check", "compare" …
	Run     string            `json:"run"`              // ID of the run; empty for a command that keeps no run
	Corpus  string            `json:"corpus,omitzero"`  // path of the corpus, or empty without one
	Tool    string            `json:"tool,omitzero"`    // the command line that runs, or the golden that is compared
	Against string            `json:"against,omitzero"` // what Candidate is compared with: a golden, or the command line of the reference
	Cases   int               `json:"cases"`            // selected cases, including Resumed
	Jobs    int               `json:"jobs"`             // runs at once; 0 = one after another
	Resumed int               `json:"resumed"`          // cases that were finished before; their Case events come all the same
	Allowed []regress.Verdict `json:"allowed"`
	// Expected is the time that the runs of the first pass took together when they ran last; 0
	// = unknown.
	Expected time.Duration `json:"expected_ms,omitzero"`
	At       time.Time     `json:"at"`
	Folder   bool          `json:"folder,omitzero"` // Corpus is a folder, so the names of cases are paths in it
}

// Fails reports whether a case with the verdict makes the run fail. In a record no verdict of the tool
// does.
func (s Started) Fails(v regress.Verdict) bool {
	return v != regress.Identical && s.Command != regress.RecordCommand && !slices.Contains(s.Allowed, v)
}

// PassStarted opens a pass over some of the cases: the second and later runs of a record, or
// the retries of a check. The first pass needs none: its runs are the cases of Started. A
// PassStarted may announce the runs of later passes too. They count to it until the next
// PassStarted. Further runs of a differing case may come during the first pass, unannounced.
type PassStarted struct {
	Pass int `json:"pass"` // number of the pass; 2 is the first that repeats a run
	Runs int `json:"runs"` // number of runs
	// Expected is as in Started. It is also 0 if Runs includes runs that are not announced yet.
	Expected time.Duration `json:"expected_ms,omitzero"`
	Costs    bool          `json:"costs,omitzero"` // the runs measure what the change costs, and give no verdict
	At       time.Time     `json:"at"`
}

// CaseStarted reports that a run of a case begins.
type CaseStarted struct {
	Name string    `json:"name" name:"printed"`
	Pass int       `json:"pass"`
	At   time.Time `json:"at"`
}

// CaseRan reports that a run of a case ended. The verdict may take further runs.
type CaseRan struct {
	Name string `json:"name" name:"printed"`
	Pass int    `json:"pass"`
	Old  bool   `json:"old,omitzero"` // a run of the command that the candidate is compared with
	// Differs is set at most once per case: for the first run that differs from the golden, or
	// in a record from the first run.
	Differs bool          `json:"differs"`
	CPU     time.Duration `json:"cpu_ms"`
	Wall    time.Duration `json:"wall_ms"`
	// Expected is this run's share of the time that its pass should take.
	Expected time.Duration      `json:"expected_ms,omitzero"`
	Engine   *outcome.EngineRun `json:"engine,omitzero"` // the engine's account of the run; nil for a run on this machine
	Reused   bool               `json:"reused,omitzero"` // nothing ran: the outcome is that of an earlier check
	Forked   bool               `json:"forked,omitzero"` // a fork of a command that had started; a Retracted may follow
	At       time.Time          `json:"at"`
}

// Engine reports the state of an engine, about once a second. Before the first case, even
// before Started, it reports the preparation, and then the requests.
type Engine struct {
	Command  string    `json:"command"` // command of the run
	Doing    string    `json:"doing"`   // before the first case; "" from then on
	InFlight int       `json:"asked"`   // executions that have not ended
	Queued   int       `json:"queued"`  // of these, by the stage that the engine reports; an engine may report none
	Running  int       `json:"running"`
	Sent     int64     `json:"sent_bytes"`     // bytes since the run began
	Received int64     `json:"received_bytes"` // bytes since the run began
	At       time.Time `json:"at"`
}

// Note is a remark for the user beside the results.
type Note struct {
	Text    string `json:"text"`
	Warning bool   `json:"warning"` // shown with --quiet too
	// Slow is the name of a case that has been running for Over and goes on; "" = the note is
	// not about such a case.
	Slow string        `json:"slow,omitzero" name:"printed"`
	Over time.Duration `json:"over_ms,omitzero"`
}

// SlowNote returns the note that a case has been running for some time.
func SlowNote(caseName string, over time.Duration) Note {
	return Note{Text: name.Print(caseName) + " has been running for " + readable.Duration(over), Slow: caseName, Over: over}
}

// Case is the final result of a case. In a record the verdict is Identical if all runs agreed,
// else Flaky or Environment.
type Case struct {
	Name         string             `json:"name" name:"printed"`
	Index        int                `json:"index"` // in corpus order; missing cases come after all others
	Verdict      regress.Verdict    `json:"verdict"`
	Ending       *regress.Ending    `json:"ending"`                           // of the first run; nil without a run
	GoldenEnding *regress.Ending    `json:"golden_ending"`                    // nil if the golden has none
	Cost         outcome.Cost       `json:",inline"`                          // of the first run
	Differences  []Difference       `json:"differences"`                      // the ending first, then the parts in order
	More         int                `json:"more_differences"`                 // differing parts that are not in Differences
	Flaky        []string           `json:"flaky" name:"printed"`             // parts that differ from run to run
	Masked       []string           `json:"masked,omitempty" name:"printed"`  // the golden's parts that were not compared in any run; in a record, those that will not be compared
	Ignored      []string           `json:"ignored,omitempty" name:"printed"` // further parts that the user excluded from comparison
	Holes        regress.Holes      `json:"holes,omitzero"`                   // of Masked: the lines that vary, and the parts that vary as a whole
	Unstable     bool               `json:"unstable,omitzero"`                // no run equals the golden, and the runs differ from each other in parts in which the golden's runs do not
	Reused       bool               `json:"reused,omitzero"`                  // nothing ran: the outcome, and the cost if there is one, are those of an earlier check
	Forked       bool               `json:"forked,omitzero"`                  // the first run was a fork of a command that had started, so its cost is less than that of a plain run
	Why          string             `json:"why,omitzero"`                     // reason of an environment failure
	Engine       *outcome.EngineRun `json:"engine,omitzero"`                  // the engine's account of the first run; nil for a run on this machine
}

// NotRun reports a selected case without a verdict, because the run ended before it. It comes
// instead of the Case, before Finished.
type NotRun struct {
	Name  string `json:"name" name:"printed"`
	Index int    `json:"index"` // in corpus order
}

// Retracted reports that the fork that ran a case does not count. Another CaseRan of the same pass
// follows, unless --fail-fast has ended the pass. The case had no verdict yet.
type Retracted struct {
	Name     string        `json:"name" name:"printed"`
	Expected time.Duration `json:"expected_ms,omitzero"` // that of the CaseRan
	At       time.Time     `json:"at"`
}

// measured reports whether CPU time and memory of the first run are known.
func (c Case) measured() bool { return c.Engine.IsMeasured() && !c.Reused && !c.Forked }

// Difference is one part of an outcome that differs from the golden.
type Difference struct {
	Part   string `json:"part" name:"printed"` // from PartName, or outcome.EndingPart
	Old    string `json:"old"`                 // this and Now describe the sides in a few words: "exit 0", "file of 3,120 bytes", "absent"
	Now    string `json:"now"`                 // see Old
	Diff   string `json:"diff"`                // a bounded unified diff, or empty
	Hidden int    `json:"hidden"`              // lines of the whole diff that Diff leaves out
	Binary bool   `json:"binary"`              // both sides have content, and it is not text
	// Contents reads both sides of a Binary difference while the run lasts. It is nil if they are too large
	// for a page, and on no line. Events wait for others, so they do not hold contents.
	Contents func() (old, now []byte, err error) `json:"-"`
}

// Group is one cause of the differences of a run. Groups come in the order of their IDs, after
// the last Case and before Finished.
type Group struct {
	cause.Cause
	// Excerpt is an edit of the cause in its example: a bounded unified diff, or words if the
	// edit is not in a text.
	Excerpt string   `json:"excerpt"`
	Members []string `json:"members" name:"printed"` // names of the cases that show it
}

// Cost is what the change costs the users of the command. It comes once, after all runs and
// before Finished, if a check or compare ran to its end. Without figures it gives the reason.
type Cost struct {
	cost.Estimate        // the figures; at most CostCasesMax of its Cases
	Measured      int    `json:"measured"`         // number of cases that were measured
	Indicative    bool   `json:"indicative"`       // the commands did not run in turns: the old costs are those of the record
	Against       string `json:"against,omitzero"` // the command of the record, if the golden's command has changed since
	Why           string `json:"why"`              // why there are no figures, or only indicative ones
	// Took is the duration of the runs that were made only for these figures.
	Took time.Duration `json:"took_ms"`
	Over []string      `json:"over"` // the limits of --fail-on that the figures exceed
}

// CostCasesMax bounds the cases of a Cost.
const CostCasesMax = 2000

// Finished closes a run, also an interrupted one.
type Finished struct {
	Summary regress.Summary `json:",inline"`
}

// Each kind is the type in the event's line.

func (Started) kind() string     { return "started" }
func (PassStarted) kind() string { return "pass_started" }
func (CaseStarted) kind() string { return "case_started" }
func (CaseRan) kind() string     { return "case_ran" }
func (Engine) kind() string      { return "engine" }
func (Note) kind() string        { return "note" }
func (Case) kind() string        { return "case" }
func (NotRun) kind() string      { return "not_run" }
func (Retracted) kind() string   { return "retracted" }
func (Group) kind() string       { return "group" }
func (Cost) kind() string        { return "cost" }
func (Finished) kind() string    { return "summary" }

// EventsMark is the beginning of an events file.
const EventsMark = `{"type":"events"`

// eventsVersion is the version of the lines that NewEvents writes. A new key does not change
// the version, because readers ignore unknown keys. Any other change does.
const eventsVersion = 2

// NewEvents returns a Reporter that writes every event as one JSON line, in
// one write, so that another program can follow the run. It closes w.
func NewEvents(w io.WriteCloser) (Reporter, error) {
	e := &events{w: w, lines: newLineWriter()}
	return e, e.failed(e.lines.writeAs(w, "events", struct {
		Version int `json:"version"`
	}{eventsVersion}))
}

type events struct {
	w     io.WriteCloser
	lines lineWriter
	cost  *Cost // repeated in the last line
}

func (e *events) Handle(ev Event) error {
	if c, ok := ev.(Cost); ok {
		e.cost = &c
	}
	return e.failed(e.lines.write(e.w, ev, e.cost))
}

func (e *events) Close() error { return e.w.Close() }

func (e *events) failed(err error) error {
	if err != nil {
		return fault.Environmentf("--events: %w", err)
	}
	return nil
}

// EncodeLine writes v as one line of JSON. It does not escape "<" and "&", because no browser
// reads these lines.
func EncodeLine(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}
