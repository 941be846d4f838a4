package report

import (
	"time"

	"muster/regress"
	"muster/regress/internal/cause"
	"muster/regress/internal/cost"
	"muster/regress/internal/outcome"
)

// Event is one thing that happened in a run: one of the types of this file and
// no others. A run is Started, then any number of the others, then Finished. The tags of the
// fields give the keys of the event's line, see lines.go.
type Event interface{ kind() string }

// Started opens a run.
type Started struct {
	Command string            `line:"command"`           // "record", "check", "compare" …
	Run     string            `line:"run"`               // the run's ID; empty for a command that keeps no run
	Corpus  string            `line:"corpus,omitempty"`  // where the cases come from; empty where there is none
	Tool    string            `line:"tool,omitempty"`    // the command line that runs, or the golden that is compared
	Against string            `line:"against,omitempty"` // what that is compared with: a golden, or the reference's command line
	Cases   int               `line:"cases"`             // selected, those of Resumed included
	Jobs    int               `line:"jobs"`              // at once; 0 is one after another
	Resumed int               `line:"resumed"`           // cases that an interrupted run had done already; their Case events come all the same
	Allowed []regress.Verdict `line:"allowed"`
	// Expected is how long the runs of the first pass should take together, by
	// what they took before; 0 when that is not known.
	Expected time.Duration `line:"expected_ms,omitempty"`
	At       time.Time     `line:"at"`
}

// PassStarted says that a pass over some of the cases begins: the second and
// later runs at record, the retries at check. The first pass needs none: its
// runs are the cases of Started. The runs of later passes may be announced
// with it, and count to it until the next PassStarted. Further runs of a case that differs
// may come during the first pass, too, and are announced by nothing.
type PassStarted struct {
	Pass int `line:"pass"` // 2 is the first that repeats anything
	Runs int `line:"runs"` // in all
	// Expected is as in Started, 0 also where Runs counts what is not announced yet.
	Expected time.Duration `line:"expected_ms,omitempty"`
	Costs    bool          `line:"costs,omitempty"` // its runs tell what the change costs, and no verdict
	At       time.Time     `line:"at"`
}

// CaseStarted says that one run of a case begins.
type CaseStarted struct {
	Name string    `line:"name,name"`
	Pass int       `line:"pass"`
	At   time.Time `line:"at"`
}

// CaseRan says that one run of a case is over. What it means for the verdict
// may take further runs.
type CaseRan struct {
	Name string `line:"name,name"`
	Pass int    `line:"pass"`
	Old  bool   `line:"old,omitempty"` // it was a run of the command that the candidate is compared with
	// Differs is set at most once per case: in the first of its runs that is
	// not like the golden, at record in the first that is not like the first.
	Differs bool          `line:"differs"`
	CPU     time.Duration `line:"cpu_ms"`
	Wall    time.Duration `line:"wall_ms"`
	// Expected is this run's share of what its pass expected.
	Expected time.Duration      `line:"expected_ms,omitempty"`
	Engine   *outcome.EngineRun `line:"engine,omitempty"` // what an engine said of it; nil of one on this machine
	At       time.Time          `line:"at"`
}

// Engine says how it stands with an engine, now and then: what is done there before the
// first case, also before Started, and then what it was asked for.
type Engine struct {
	Command  string    `line:"command"` // of the run
	Doing    string    `line:"doing"`   // before the first case; "" from then on
	InFlight int       `line:"asked"`   // executions that have not ended
	Queued   int       `line:"queued"`  // of them, by the stages that the engine says; it may say none
	Running  int       `line:"running"`
	Sent     int64     `line:"sent_bytes"`     // bytes, since the run began
	Received int64     `line:"received_bytes"` // likewise
	At       time.Time `line:"at"`
}

// Note is something that the user should know beside the results.
type Note struct {
	Text    string `line:"text"`
	Warning bool   `line:"warning"` // shown even to those who want quiet
}

// Case is the final word on a case. At record the verdict is Identical when
// all runs agreed, Flaky, or Environment.
type Case struct {
	Name         string             `line:"name,name"`
	Index        int                `line:"index"` // in corpus order; missing cases come after all others
	Verdict      regress.Verdict    `line:"verdict"`
	Ending       *regress.Ending    `line:"ending"`                 // of the first run; nil when there was none
	GoldenEnding *regress.Ending    `line:"golden_ending"`          // nil when the golden has none
	Cost         outcome.Cost       `line:",inline"`                // of the first run
	Differences  []Difference       `line:"differences"`            // the ending first, then the parts in order
	More         int                `line:"more_differences"`       // differing parts that Differences leaves out
	Flaky        []string           `line:"flaky,name"`             // the parts that differ from run to run
	Masked       []string           `line:"masked,name,omitempty"`  // of the golden: the parts that no run was compared in; at record those that will not be
	Ignored      []string           `line:"ignored,name,omitempty"` // further parts that are never compared, as the user asked
	Unstable     bool               `line:"unstable,omitempty"`     // no run equals the golden, and the runs differ from each other where those of the golden do not
	Why          string             `line:"why,omitempty"`          // environment: what failed
	Engine       *outcome.EngineRun `line:"engine,omitempty"`       // what an engine said of the first run; nil of one on this machine
}

// NotRun says that a selected case has no verdict: the run ended before it. It
// comes instead of its Case, before Finished.
type NotRun struct {
	Name  string `line:"name,name"`
	Index int    `line:"index"` // in corpus order
}

// measured reports whether CPU and memory of the first run are known.
func (c Case) measured() bool { return c.Engine.IsMeasured() }

// Difference is one part of an outcome that is not like the golden.
type Difference struct {
	Part   string `line:"part,name"` // as PartName gives it, or outcome.EndingPart
	Old    string `line:"old"`       // each side in a few words: "exit 0", "file of 3,120 bytes", "absent"
	Now    string `line:"now"`       // likewise
	Diff   string `line:"diff"`      // a bounded unified diff; empty when there is none to show
	Hidden int    `line:"hidden"`    // lines of the whole diff that Diff leaves out
	Binary bool   `line:"binary"`    // there are contents on both sides, and they are not text
}

// Group is one cause of the differences of a run. Groups come in the order of their IDs,
// after the last Case and before Finished.
type Group struct {
	cause.Cause
	// Excerpt is an edit of the cause in its example: a bounded unified diff, or words
	// where it is no edit of a text.
	Excerpt string   `line:"excerpt"`
	Members []string `line:"members,name"` // the cases that show it, by name
}

// Cost is what the change of the command costs its users. It comes once, after all
// runs and before Finished, where a check or a compare ran to its end; without figures it
// says why there are none.
type Cost struct {
	cost.Estimate        // the figures; of its Cases at most CostCasesMax
	Measured      int    `line:"measured"`          // how many cases they are of
	Indicative    bool   `line:"indicative"`        // they were not taken in turns: the old ones are what was recorded
	Against       string `line:"against,omitempty"` // the command of the record, if the golden's is another by now
	Why           string `line:"why"`               // there are no figures, or only indicative ones
	// Took is how long the runs took that were made for the figures alone.
	Took time.Duration `line:"took_ms"`
	Over []string      `line:"over"` // the limits of --fail-on that they pass
}

// CostCasesMax bounds the cases of a Cost, for pictures and tables.
const CostCasesMax = 2000

// Finished closes a run, also one that was interrupted.
type Finished struct {
	Summary regress.Summary `line:",inline"`
}

// Each kind is the type of the event's line.

func (Started) kind() string     { return "started" }
func (PassStarted) kind() string { return "pass_started" }
func (CaseStarted) kind() string { return "case_started" }
func (CaseRan) kind() string     { return "case_ran" }
func (Engine) kind() string      { return "engine" }
func (Note) kind() string        { return "note" }
func (Case) kind() string        { return "case" }
func (NotRun) kind() string      { return "not_run" }
func (Group) kind() string       { return "group" }
func (Cost) kind() string        { return "cost" }
func (Finished) kind() string    { return "summary" }
