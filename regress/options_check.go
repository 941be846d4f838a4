package regress

import (
	"slices"
	"strings"

	"muster/regress/internal/cost"
	"muster/regress/internal/exec/local"
	"muster/regress/internal/fault"
	"muster/regress/internal/report"
)

// check refuses options that mean nothing to a command, before anything is read
// or run.
func (o *Options) check(command string) error {
	r := &o.Remote
	for _, list := range []*[]string{&o.Command.Env, &o.Command.PassEnv, &o.Command.ToolFiles, &o.Command.NoToolFiles, &o.Judge.Normalize, &o.Judge.Ignore, &r.Headers, &r.Inputs, &r.Outputs, &r.Platform} {
		*list = withoutEmpty(*list)
	}
	o.Judge.Ignore = setOf(o.Judge.Ignore)
	if err := o.checkAllow(); err != nil {
		return err
	}
	if _, err := o.Judge.limits(); err != nil {
		return err
	}
	if command == report.RecordCommand && o.Judge.Repeat < 1 {
		return fault.Inputf("--repeat %d: every case must run at least once", o.Judge.Repeat)
	}
	if command != casesCommand && command != diffCommand {
		if err := o.Limits.check(); err != nil {
			return err
		}
	}
	for flag, n := range map[string]int{
		"jobs": o.Limits.Jobs, "retries": o.Judge.Retries, "runs": o.Judge.Runs, "fail-fast": o.Select.FailFast,
		"cost-cases": o.Judge.CostCases, "remote-jobs": o.Remote.Jobs,
	} {
		if n < 0 {
			return fault.Inputf("--%s %d: it must be 0 or more", flag, n)
		}
	}
	if err := o.Remote.check(); err != nil {
		return err
	}
	if o.Limits.Jobs > local.LanesMax {
		return fault.Inputf("--jobs %d: at most %d are possible", o.Limits.Jobs, local.LanesMax)
	}
	for _, kv := range o.Command.Env {
		if key, _, ok := strings.Cut(kv, "="); !ok || key == "" {
			return fault.Inputf("--env %q: the form is K=V", kv)
		}
	}
	if err := o.distinct(); err != nil {
		return err
	}
	return o.Report.replaceable()
}

// withoutEmpty leaves out empty strings: one alone is how to say that there is to
// be none, whatever was recorded.
func withoutEmpty(list []string) []string {
	if !slices.Contains(list, "") {
		return list
	}
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return s == "" })
}

// setOf returns the elements sorted, each once: their order has no meaning. It is nil for nil.
func setOf(list []string) []string {
	list = slices.Clone(list)
	slices.Sort(list)
	return slices.Compact(list)
}

// Allowable lists the verdicts that Judgement.Allow may have.
func Allowable() []string { return []string{"flaky", "new", "missing"} }

// checkAllow refuses names of verdicts that cannot be allowed.
func (o *Options) checkAllow() error {
	for _, a := range o.Judge.Allow {
		if !slices.Contains(Allowable(), a) {
			return fault.Inputf("--allow %q: flaky, new and missing can be allowed", a)
		}
	}
	return nil
}

// limits are those of --fail-on. An empty one is refused: who wrote it, as $LIMIT perhaps,
// believes that something is limited.
func (j *Judgement) limits() (list []cost.Limit, err error) {
	for _, texts := range j.FailOn {
		for text := range strings.SplitSeq(texts, ",") {
			l, err := cost.ParseLimit(text)
			if err != nil {
				return nil, fault.Inputf("--fail-on %w", err)
			}
			list = append(list, l)
		}
	}
	return list, nil
}

// check refuses limits under which no case could run.
func (l *Limits) check() error {
	switch {
	case l.Timeout < 0:
		return fault.Inputf("--timeout %v: it must be positive, as in 10s or 2m", l.Timeout)
	case l.Grace < 0:
		return fault.Inputf("--grace %v: it must not be negative", l.Grace)
	case l.OutputMax < 0:
		return fault.Inputf("--output-max %d: it must be positive, as in 64K or 50M", l.OutputMax)
	}
	return nil
}

// complete puts the defaults where nothing was given or recorded.
func (l *Limits) complete() {
	if l.Timeout == 0 {
		l.Timeout = TimeoutDefault
	}
	if l.Memory <= 0 {
		l.Memory = NoLimit
	}
	if l.OutputMax == 0 {
		l.OutputMax = OutputMaxDefault
	}
}
