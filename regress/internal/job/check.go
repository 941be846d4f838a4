package job

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"muster/regress"
	"muster/regress/internal/cost"
	"muster/regress/internal/fault"
)

// trim replaces lists by lists without empty strings.
func trim(o *regress.Options) {
	r := &o.Remote
	for _, list := range []*[]string{&o.Command.Env, &o.Command.PassEnv, &o.Command.ToolFiles, &o.Command.NoToolFiles, &o.Judge.Normalize, &o.Judge.Ignore, &r.Headers, &r.Inputs, &r.Outputs, &r.Platform} {
		*list = withoutEmpty(*list)
	}
	o.Judge.Ignore = setOf(o.Judge.Ignore)
}

// check refuses options that a command cannot use.
func check(o *regress.Options, command string) error {
	if err := checkAllow(o); err != nil {
		return err
	}
	if _, err := ParseCostLimits(&o.Judge); err != nil {
		return err
	}
	if command == regress.RecordCommand && o.Judge.Repeat < 1 {
		return fault.Inputf("--repeat %d: every case must run at least once", o.Judge.Repeat)
	}
	if o.Judge.RepeatAfter < 0 {
		return fault.Inputf("--repeat-after %s: it must be 0 or more", o.Judge.RepeatAfter)
	}
	if command != CasesCommand && command != DiffCommand {
		if err := checkBounds(&o.Limits); err != nil {
			return err
		}
	}
	for flag, n := range map[string]int{
		"jobs": o.Limits.Jobs, "retries": o.Judge.Retries, "runs": o.Judge.Runs, "fail-fast": o.Select.FailFast,
		"cost-cases": o.Judge.CostCases,
	} {
		if n < 0 {
			return fault.Inputf("--%s %d: it must be 0 or more", flag, n)
		}
	}
	if err := checkRemote(o); err != nil {
		return err
	}
	if err := checkReuse(o); err != nil {
		return err
	}
	if err := checkForkServer(o); err != nil {
		return err
	}
	for _, kv := range o.Command.Env {
		if key, _, ok := strings.Cut(kv, "="); !ok || key == "" {
			return fault.Inputf("--env %q: the form is K=V", kv)
		}
	}
	return nil
}

// ReuseFlag returns the flag by which a check takes the outcomes of earlier checks, or "".
func ReuseFlag(s *regress.Store) string {
	switch {
	case s.Reuse:
		return "--reuse"
	case s.RemoteCache != "":
		return "--remote-cache"
	}
	return ""
}

// checkReuse refuses to take outcomes of earlier checks where muster could not see what a case depends on.
func checkReuse(o *regress.Options) error {
	flag := ReuseFlag(&o.Store)
	switch {
	case flag == "":
	case o.Store.Reuse && o.Store.RemoteCache != "":
		return fault.Inputf("--reuse and --remote-cache do not go together: choose one of them")
	case o.Remote.URL != "":
		return fault.Inputf("%s: an engine has a cache of its own results, which --remote uses anyway: leave out %s", flag, flag)
	case !o.Command.NoNetwork:
		return fault.Inputf("%s: cases that reach a network may depend on it unseen: add --no-network, or leave out %s", flag, flag)
	case o.Command.Observe == regress.ObserveNone:
		return fault.Inputf("%s: without observing the tool, not all its files are known: leave out --observe none, or %s", flag, flag)
	}
	return nil
}

// fileNameMax is the longest name of a file, in bytes (NAME_MAX).
const fileNameMax = 255

// checkForkServer refuses a name of --as that is no file's, and what does not go with --fork-server.
func checkForkServer(o *regress.Options) error {
	if as := o.Command.As; as != "" {
		switch {
		case strings.ContainsAny(as, "/\x00") || as == "." || as == "..":
			return fault.Inputf("--as %s: give the name of a file, without a folder", strconv.Quote(as))
		case len(as) > fileNameMax:
			return fault.Inputf("--as %s: the name has %d bytes, and a file system takes %d: choose a shorter one", strconv.Quote(as), len(as), fileNameMax)
		case o.Remote.URL != "":
			return fault.Inputf("--as is not for engines: leave it out, or run without --remote")
		}
	}
	switch {
	case !o.Store.ForkServer:
	case o.Remote.URL != "":
		return fault.Inputf("--fork-server is not for engines: leave it out, or run without --remote")
	case ReuseFlag(&o.Store) != "":
		return fault.Inputf("--fork-server and %s do not go together: choose one of them", ReuseFlag(&o.Store))
	case len(o.Judge.FailOn) > 0:
		return fault.Inputf("--fork-server with --fail-on: a fork costs less than the command does, so the cost of a change is not measured: leave out one of them")
	}
	return nil
}

// withoutEmpty leaves out empty strings. Users give a single one to override a recorded list with
// an empty one.
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

// checkAllow refuses names of verdicts that cannot be allowed.
func checkAllow(o *regress.Options) error {
	for _, a := range o.Judge.Allow {
		if !slices.Contains(regress.Allowable(), a) {
			return fault.Inputf("--allow %q: flaky, new and missing can be allowed", a)
		}
	}
	return nil
}

// ParseCostLimits returns the limits of --fail-on. It refuses an empty limit: its author, who wrote
// $LIMIT perhaps, expects that something is limited.
func ParseCostLimits(j *regress.CompareOptions) (list []cost.Limit, err error) {
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

// checkBounds refuses limits under which no case could run.
func checkBounds(l *regress.Limits) error {
	switch {
	case l.Timeout < 0:
		return fault.Inputf("--timeout %v: it must be positive, as in 10s or 2m", l.Timeout)
	case l.OutputMax < 0:
		return fault.Inputf("--output-max %d: it must be positive, as in 64K or 50M", l.OutputMax)
	}
	return nil
}

// CompleteLimits sets the defaults of limits that were neither given nor recorded.
func CompleteLimits(l *regress.Limits) {
	l.Timeout = cmp.Or(l.Timeout, regress.TimeoutDefault)
	if l.Memory <= 0 {
		l.Memory = regress.NoLimit
	}
	l.OutputMax = cmp.Or(l.OutputMax, regress.OutputMaxDefault)
}
