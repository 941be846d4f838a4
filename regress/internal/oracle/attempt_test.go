package oracle

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"muster/regress"
	"muster/regress/host"
	"muster/regress/internal/cause"
)

// attempt is one call of Record or Check, and what it reported.
type attempt struct {
	err      error
	sum      regress.Summary
	last     summaryLine
	verdicts map[string]regress.Verdict
	unstable map[string]bool
	causes   map[string][]string
	kinds    map[string]cause.Kind // of causes
	once     map[string]bool       // differed_once
	twice    []string              // names with several lines

	log    map[string][]face
	broken map[string]bool
	cut    bool
	turned bool
	faults []string
}

// summaryLine is what the oracle reads of the last JSON line.
type summaryLine struct {
	Cases, Identical, Flaky, Recorded int
	Masked                            *int     `json:"masked_cases"`
	ToolChanged                       []string `json:"tool_changed"`
}

func (s *summaryLine) masked() int {
	if s.Masked == nil {
		return 0
	}
	return *s.Masked
}

// attempt calls a command, disturbed as planned.
func (r *round) attempt(do func(context.Context, regress.Options, host.Host) (regress.Summary, error), o regress.Options, plan disturbance) *attempt {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	var out, notes bytes.Buffer
	o.Report = regress.Report{Format: regress.JSON, Verbose: true}
	h := host.Host{Stdout: &out, Stderr: &notes}
	r.world.begin(&h, plan, cancel)
	a := &attempt{verdicts: map[string]regress.Verdict{}, unstable: map[string]bool{}, once: map[string]bool{}, causes: map[string][]string{}, kinds: map[string]cause.Kind{}}
	a.sum, a.err = do(ctx, o, h)
	w := r.world
	a.log, a.broken, a.cut, a.turned, a.faults = w.log, w.broken, w.cut, w.turned, w.faults
	for line := range bytes.Lines(out.Bytes()) {
		if err := a.read(line); err != nil {
			r.Fatalf("%s: %v", line, err)
		}
	}
	r.tally.attempts++
	r.Logf("  ran %d times, cut %t: error %v; verdicts %v", w.begun, a.cut, a.err, a.verdicts)
	return a
}

func (a *attempt) read(line []byte) error {
	var c struct {
		Type, Name, Verdict, ID string
		Kind                    cause.Kind
		Causes                  []string
		Unstable                bool
	}
	if err := json.Unmarshal(line, &c); err != nil {
		return err
	}
	switch {
	case c.Type == "summary":
		return json.Unmarshal(line, &a.last)
	case c.Type == "group":
		a.kinds[c.ID] = c.Kind
		return nil
	case c.Type != "case":
		return nil
	case c.Verdict == "differed_once":
		a.once[c.Name] = true
		return nil
	}
	if _, known := a.verdicts[c.Name]; known {
		a.twice = append(a.twice, c.Name)
	}
	var v regress.Verdict
	err := v.UnmarshalText([]byte(c.Verdict))
	a.verdicts[c.Name], a.unstable[c.Name], a.causes[c.Name] = v, c.Unstable, c.Causes
	return err
}

func (a *attempt) interrupted() bool { return regress.ClassOf(a.err) == regress.Interrupted }

// wentOn reports whether the command got beyond the sample of finished cases that a resume
// runs again.
func (a *attempt) wentOn() bool { return a.last.Cases > 0 }

// refused reports whether --resume was refused.
func (a *attempt) refused() bool {
	return regress.ClassOf(a.err) == regress.Input && strings.Contains(a.err.Error(), "--resume")
}

// failedByMachine reports whether a record ended because the machine failed some cases.
func (a *attempt) failedByMachine() bool {
	return regress.ClassOf(a.err) == regress.Environment && len(a.broken) > 0
}

// chain is a command with all that resumed it.
type chain struct {
	runs     map[string][]face
	noisy    map[string]answer // whether runs left the part that the round may ignore
	sampled  map[string]bool   // cases that ran in several attempts, as in the sample of a resume
	attempts int
	lossy    bool     // an interrupt came while several lanes were at work: a run may be lost
	change   *change  // of the tool, since it began
	touched  bool     // a file was replaced by its like
	betrayed bool     // the next resume must refuse: finished cases betray the change
	begun    int      // cases that had run when the tool changed
	last     *attempt // the one that came to the end
}

// uncertain reports whether some run of a case may not be kept: one that was lost, or one of a resume's sample.
func (c *chain) uncertain(name string) bool { return c.lossy || c.sampled[name] }

func newChain() *chain {
	return &chain{runs: map[string][]face{}, noisy: map[string]answer{}, sampled: map[string]bool{}}
}

func (c *chain) add(a *attempt, how comparing) {
	c.attempts++
	if !a.wentOn() {
		return // only its sample ran
	}
	for name, faces := range a.log {
		c.sampled[name] = c.sampled[name] || len(c.runs[name]) > 0 && len(faces) > 0
		for _, f := range faces {
			c.runs[name] = append(c.runs[name], f.compared(how))
			c.noisy[name] = max(c.noisy[name], f.noise())
		}
	}
}

// noise says whether the runs that are kept of a case left the part that the round may ignore.
func (c *chain) noise(name string) answer {
	if c.lossy {
		return min(c.noisy[name], maybe)
	}
	return c.noisy[name]
}

// noise says whether an outcome has the part that the round may ignore. A run that a limit
// ended may give way to another.
func (f face) noise() answer {
	switch {
	case !f.parts[ignoredPart].present:
		return no
	case f.ending.Partial():
		return maybe
	}
	return yes
}

// change is a change of the tool, by one of the files that it depends on.
type change struct {
	what   string
	unseen bool // no file or setting shows it
	apply  func() error
}

func (c *change) String() string { return fmt.Sprintf("%s changes", c.what) }
