package job

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	"muster/regress"
	"muster/regress/internal/exec"
	"muster/regress/internal/fault"
	"muster/regress/internal/glob"
	"muster/regress/internal/golden"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
	"muster/regress/internal/plan"
)

// remoteJobsMax bounds what one run asks of an engine at once.
const remoteJobsMax = 10_000

func checkRemote(o *regress.Options) error {
	r := &o.Remote
	if r.Name != "" && r.URL == "" && o.Store.RemoteCache == "" {
		return fault.Inputf("--engine %s: [engine.%s] has no url: set it, or give --remote URL", r.Name, r.Name)
	}
	for _, kv := range r.Platform {
		if key, _, ok := strings.Cut(kv, "="); !ok || key == "" {
			return fault.Inputf("[engine] platform %q: the form is K=V", kv)
		}
	}
	for _, kv := range r.Headers {
		if err := checkHeader(kv); err != nil {
			return err
		}
	}
	for _, pattern := range r.Outputs {
		if at := strings.TrimPrefix(pattern, "./"); path.IsAbs(at) || slices.Contains(strings.Split(at, "/"), "..") {
			return fault.Inputf("[engine] output %s: it names what lies in the work folder, from there", name.Print(pattern))
		}
		if _, err := glob.Compile(exec.Fill(pattern, "x")); err != nil {
			return fault.Inputf("[engine] output %s: %w", name.Print(pattern), err)
		}
	}
	if r.Jobs < 0 || r.Jobs > remoteJobsMax {
		return fault.Inputf("[engine] jobs %d: from 0 to %d are possible", r.Jobs, remoteJobsMax)
	}
	if r.Wait < 0 {
		return fault.Inputf("[engine] wait %v: it cannot be negative", r.Wait)
	}
	if r.Priority != int(int32(r.Priority)) {
		return fault.Inputf("[engine] priority %d: engines take 32 bits", r.Priority)
	}
	return nil
}

// checkHeader refuses what gRPC would. Nothing of it is shown that may be secret: who writes
// it as for curl, "name: value", has the value before the first '='.
func checkHeader(kv string) error {
	key, value, ok := strings.Cut(kv, "=")
	switch {
	case !ok || key == "" || strings.Trim(strings.ToLower(key), "abcdefghijklmnopqrstuvwxyz0123456789-_.") != "":
		return fault.Inputf("MUSTER_REMOTE_HEADER: each line has the form K=V, where K has only letters, digits, '-', '_' and '.'; the text may be secret and is not shown")
	case !strings.HasSuffix(strings.ToLower(key), "-bin") && strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r > '~' }):
		return fault.Inputf("MUSTER_REMOTE_HEADER, %s: its value is not printable ASCII", key)
	}
	return nil
}

// chooseEngine returns the engine of a run that is repeated: the given one, or else that of the
// past run. Secrets are never kept with a run.
func chooseEngine(given, past regress.Remote) regress.Remote {
	if given.Given {
		return given
	}
	past.Headers, past.Token, past.PlainToken = given.Headers, given.Token, given.PlainToken
	return past
}

// ListEngineArgs returns the flags with which a case runs on the same engine. Without an engine they
// exclude configured settings. The file that describes an engine cannot be excluded.
func ListEngineArgs(r *regress.Remote, configured bool) (args []string) {
	if r.URL == "" {
		if configured {
			args = []string{"--config", ""}
		}
		return args
	}
	for _, one := range []struct{ flag, value string }{{"--config", r.Settings}, {"--engine", r.Name}, {"--remote", r.URL}} {
		if one.value != "" {
			args = append(args, one.flag, one.value)
		}
	}
	return args
}

// IdentityFlags returns the settings that change outcomes or the choice of cases, by name.
func IdentityFlags(o *regress.Options) map[string]string {
	f := OutcomeFlags(o)
	for name, list := range map[string][]string{"--cases": o.Select.Globs, "--filter": o.Select.Filters} {
		if len(list) > 0 {
			f[name] = fmt.Sprintf("%q", list)
		}
	}
	if o.Select.Partition != "" {
		f["--partition"] = o.Select.Partition
	}
	if o.Select.Sample > 0 {
		f["--sample"] = fmt.Sprint(o.Select.Sample)
	}
	if o.Select.AllCases {
		f["--all-cases"] = "true"
	}
	return f
}

// DigestPassed returns a digest of the variables that are passed on. Their values may be secrets.
func DigestPassed(c *regress.Command) outcome.Digest {
	var b bytes.Buffer
	for _, key := range c.PassEnv {
		value, set := os.LookupEnv(key)
		fmt.Fprintf(&b, "%q %t %q\n", key, set, value)
	}
	return outcome.Of(b.Bytes())
}

func PlanSelection(s *regress.Selection) plan.Selection {
	return plan.Selection{Globs: s.Globs, Filters: s.Filters, Partition: s.Partition, Sample: s.Sample}
}

func PlanRecorded(r regress.RecordedSelection) plan.Selection { return plan.Selection(r) }

// QuoteRecorded returns the selection as flags; "" when it is everything.
func QuoteRecorded(r regress.RecordedSelection) string { return name.QuoteAll(PlanRecorded(r).Flags()) }

// KeptSelection returns the part of the selection that a golden keeps.
func KeptSelection(s *regress.Selection) golden.Selection {
	return golden.Selection{Globs: s.Globs, Filters: s.Filters, Partition: s.Partition, Sample: s.Sample}
}

// takeSelection takes over the selection that the golden keeps, unless AllCases lifts it.
func takeSelection(s *regress.Selection, m golden.Meta) {
	s.Recorded = regress.RecordedSelection{}
	if !s.AllCases {
		s.Recorded = regress.RecordedSelection{Globs: m.Selection.Globs, Filters: m.Selection.Filters, Partition: m.Selection.Partition, Sample: m.Selection.Sample}
	}
}
