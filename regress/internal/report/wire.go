package report

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"

	"muster/regress/internal/cause"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
)

// The lines of an events file, one type per event. They are apart from the
// events because scripts rely on them: names are printable, durations are in
// milliseconds. A field may be added within a version, for readers ignore what
// they do not know; anything else takes a new version.

const eventsVersion = 1

type wireHeader struct {
	Type    string `json:"type"`
	Version int    `json:"version"`
}

type wireStarted struct {
	Type     string        `json:"type"`
	Command  string        `json:"command"`
	Run      string        `json:"run"`
	Corpus   string        `json:"corpus,omitempty"`
	Tool     string        `json:"tool,omitempty"`
	Against  string        `json:"against,omitempty"`
	Cases    int           `json:"cases"`
	Jobs     int           `json:"jobs"`
	Resumed  int           `json:"resumed"`
	Allowed  []verdictWord `json:"allowed"`
	Expected millis        `json:"expected_ms,omitzero"`
	At       time.Time     `json:"at"`
}

type wirePassStarted struct {
	Type     string    `json:"type"`
	Pass     int       `json:"pass"`
	Runs     int       `json:"runs"`
	Expected millis    `json:"expected_ms,omitzero"`
	Costs    bool      `json:"costs,omitzero"`
	At       time.Time `json:"at"`
}

type wireCaseStarted struct {
	Type string    `json:"type"`
	Name printed   `json:"name"`
	Pass int       `json:"pass"`
	At   time.Time `json:"at"`
}

type wireCaseRan struct {
	Type     string         `json:"type"`
	Name     printed        `json:"name"`
	Pass     int            `json:"pass"`
	Old      bool           `json:"old,omitzero"`
	Differs  bool           `json:"differs"`
	CPU      *millis        `json:"cpu_ms"` // null where an engine does not tell
	Wall     millis         `json:"wall_ms"`
	Expected millis         `json:"expected_ms,omitzero"`
	Engine   *wireEngineRun `json:"engine,omitempty"`
	At       time.Time      `json:"at"`
}

type wireNote struct {
	Type    string `json:"type"`
	Text    string `json:"text"`
	Warning bool   `json:"warning"`
}

type wireCase struct {
	Type         string           `json:"type"`
	Name         printed          `json:"name"`
	Index        int              `json:"index"`
	Verdict      verdictWord      `json:"verdict"`
	Ending       *wireEnding      `json:"ending"`
	GoldenEnding *wireEnding      `json:"golden_ending"`
	CPU          *millis          `json:"cpu_ms"` // this and the peak are null where an engine does not tell
	Wall         millis           `json:"wall_ms"`
	PeakRSS      *int64           `json:"peak_rss_kib"`
	Differences  []wireDifference `json:"differences"`
	More         int              `json:"more_differences"`
	Flaky        []printed        `json:"flaky"`
	Masked       []printed        `json:"masked,omitempty"`
	Ignored      []printed        `json:"ignored,omitempty"`
	Unstable     bool             `json:"unstable,omitempty"`
	Why          string           `json:"why"`
	Engine       *wireEngineRun   `json:"engine,omitempty"`
}

type wireNotRun struct {
	Type  string  `json:"type"`
	Name  printed `json:"name"`
	Index int     `json:"index"`
}

type wireGroup struct {
	Type      string     `json:"type"`
	ID        string     `json:"id"`
	Signature string     `json:"signature"`
	Name      string     `json:"name"`
	Kind      cause.Kind `json:"kind"`
	Family    string     `json:"family"`
	Cases     int        `json:"cases"`
	Lines     int        `json:"lines"`
	Sole      int        `json:"sole"`
	Example   printed    `json:"example"`
	Smallest  printed    `json:"smallest"`
	Folded    []string   `json:"folded"`
	Excerpt   string     `json:"excerpt"`
	Members   []printed  `json:"members"`
}

type wireDifference struct {
	Part   printed `json:"part"`
	Old    string  `json:"old"`
	Now    string  `json:"now"`
	Diff   string  `json:"diff"`
	Hidden int     `json:"hidden"`
	Binary bool    `json:"binary"`
}

type wireFinished struct {
	Type        string          `json:"type"`
	Command     string          `json:"command"`
	Run         string          `json:"run"`
	Cases       int             `json:"cases"`
	Recorded    int             `json:"recorded"`
	NotRun      int             `json:"not_run"`
	Verdicts    map[string]int  `json:"verdicts"`
	Masked      *wireMasked     `json:"masked,omitempty"`
	Selection   string          `json:"selection,omitempty"`
	NotSampled  int             `json:"not_in_sample,omitempty"`
	Sources     *wireSources    `json:"sources,omitempty"`
	Settings    []string        `json:"settings,omitempty"`
	Endings     wireEndings     `json:"endings"`
	Failing     []wireFailure   `json:"failing,omitempty"`
	Interrupted bool            `json:"interrupted"`
	BrokeOff    bool            `json:"broke_off,omitempty"`
	Mixed       bool            `json:"mixed,omitempty"`
	ToolChanged []printed       `json:"tool_changed,omitempty"`
	Stopped     int             `json:"stopped,omitempty"`
	Groups      int             `json:"groups"`
	ExitStatus  int             `json:"exit_status"`
	Wall        millis          `json:"wall_ms"`
	CPU         *millis         `json:"cpu_ms"`
	OwnCPU      millis          `json:"own_cpu_ms"`
	CoresBusy   float64         `json:"cores_busy"`
	Merged      int             `json:"merged,omitempty"`
	Over        []string        `json:"over,omitempty"`
	Engine      *wireEngineRuns `json:"engine,omitempty"`
}

type wireMasked struct {
	Cases       int `json:"cases"`
	Parts       int `json:"parts"`
	CutOff      int `json:"cut_off"`
	CutOffParts int `json:"cut_off_parts"`

	Ignored      int `json:"ignored,omitempty"`
	IgnoredParts int `json:"ignored_parts,omitempty"`
	IgnoredAlone int `json:"ignored_alone,omitempty"`
}

type wireSources struct {
	Known         int       `json:"known"`
	Changed       int       `json:"changed"`
	Shared        int       `json:"shared"`
	SharedChanged int       `json:"shared_changed"`
	SharedAdded   int       `json:"shared_added"`
	SharedRemoved int       `json:"shared_removed"`
	Names         []printed `json:"names,omitempty"`
	SharedNames   []printed `json:"shared_names,omitempty"`
}

type wireEndings struct {
	Succeeded   int `json:"succeeded"`
	Failed      int `json:"failed"`
	Signalled   int `json:"signalled"`
	TimedOut    int `json:"timed_out"`
	OutOfMemory int `json:"out_of_memory"`
	OutputLimit int `json:"output_limit"`
}

// verdictWord and kindWord are words on the wire. encoding/json would take a
// number too where a type reads itself from text, and with it what is outside
// the closed set.

type verdictWord outcome.Verdict

func (v verdictWord) MarshalJSON() ([]byte, error) { return json.Marshal(outcome.Verdict(v)) }

func (v *verdictWord) UnmarshalJSON(text []byte) error {
	var word string
	if err := json.Unmarshal(text, &word); err != nil {
		return err
	}
	return (*outcome.Verdict)(v).UnmarshalText([]byte(word))
}

type kindWord outcome.Kind

func (k kindWord) MarshalJSON() ([]byte, error) { return json.Marshal(outcome.Kind(k)) }

func (k *kindWord) UnmarshalJSON(text []byte) error {
	var word string
	if err := json.Unmarshal(text, &word); err != nil {
		return err
	}
	return (*outcome.Kind)(k).UnmarshalText([]byte(word))
}

type wireEnding struct {
	Kind kindWord `json:"kind"`
	Code int      `json:"code"`
}

func toWireEnding(e *outcome.Ending) *wireEnding {
	if e == nil {
		return nil
	}
	return &wireEnding{kindWord(e.Kind), e.Code}
}

func (e *wireEnding) ending() *outcome.Ending {
	if e == nil {
		return nil
	}
	return &outcome.Ending{Kind: outcome.Kind(e.Kind), Code: e.Code}
}

// A printed is a name, raw in memory and printable on the wire.
type printed string

func (p printed) MarshalText() ([]byte, error) { return []byte(name.Print(string(p))), nil }

func (p *printed) UnmarshalText(text []byte) error {
	raw, err := name.Parse(string(text))
	*p = printed(raw)
	return err
}

// A millis is a duration as a number of milliseconds, exact to the nanosecond
// up to 26 days.
type millis time.Duration

// known is a figure, or null where it is none.
func known[T any](figure T, told bool) *T {
	if !told {
		return nil
	}
	return &figure
}

// figure is what known took; 0 of null.
func figure[T any](known *T) (f T) {
	if known != nil {
		f = *known
	}
	return f
}

func (m millis) duration() time.Duration { return time.Duration(m) }

func (m millis) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, float64(m)/float64(time.Millisecond), 'f', -1, 64), nil
}

func (m *millis) UnmarshalJSON(text []byte) error {
	var ms float64
	if err := json.Unmarshal(text, &ms); err != nil {
		return err
	}
	nanos := math.Round(ms * float64(time.Millisecond))
	if math.Abs(nanos) > math.MaxInt64/2 {
		return fmt.Errorf("%s ms is too long for a duration", text)
	}
	*m = millis(nanos)
	return nil
}
