package job

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path"
	"slices"
	"strconv"
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

// cacheFlags are the flags of an engine that also say how to reach a cache.
var cacheFlags = []string{"--instance", "--remote-header", "--tls-ca", "--tls-cert", "--tls-key"}

func checkRemote(o *regress.Options) error {
	r := &o.Remote
	if r.URL == "" {
		for _, flag := range r.FlagsGiven {
			if o.Store.RemoteCache == "" || !slices.Contains(cacheFlags, flag) {
				return fault.Inputf("%s is for --remote URL", flag)
			}
		}
	}
	for _, kv := range r.Platform {
		if key, _, ok := strings.Cut(kv, "="); !ok || key == "" {
			return fault.Inputf("--platform %q: the form is K=V", kv)
		}
	}
	for _, kv := range r.Headers {
		if err := checkHeader(kv); err != nil {
			return err
		}
	}
	for _, pattern := range r.Outputs {
		if at := strings.TrimPrefix(pattern, "./"); path.IsAbs(at) || slices.Contains(strings.Split(at, "/"), "..") {
			return fault.Inputf("--remote-output %s: it names what lies in the work folder, from there", name.Print(pattern))
		}
		if _, err := glob.Compile(exec.Fill(pattern, "x")); err != nil {
			return fault.Inputf("--remote-output %s: %w", name.Print(pattern), err)
		}
	}
	if r.Jobs > remoteJobsMax {
		return fault.Inputf("--remote-jobs %d: at most %d are possible", r.Jobs, remoteJobsMax)
	}
	if r.Wait < 0 {
		return fault.Inputf("--remote-wait %v: it cannot be negative", r.Wait)
	}
	if r.Priority != int(int32(r.Priority)) {
		return fault.Inputf("--remote-priority %d: engines take 32 bits", r.Priority)
	}
	return nil
}

// checkHeader refuses what gRPC would. Nothing of it is shown that may be secret: who writes
// it as for curl, "name: value", has the value before the first '='.
func checkHeader(kv string) error {
	key, value, ok := strings.Cut(kv, "=")
	switch {
	case !ok || key == "" || strings.Trim(strings.ToLower(key), "abcdefghijklmnopqrstuvwxyz0123456789-_.") != "":
		return fault.Inputf("--remote-header: the form is K=V, where K has letters, digits, '-', '_' and '.' alone; what was given is not shown, for it may be secret")
	case !strings.HasSuffix(strings.ToLower(key), "-bin") && strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r > '~' }):
		return fault.Inputf("--remote-header %s: its value is not printable ASCII", key)
	}
	return nil
}

// overrideRemote returns the options of a past run, replaced by those that are given now.
func overrideRemote(r, past regress.Remote) regress.Remote {
	now := past
	// These are never kept: a fallback would run elsewhere without being asked to.
	now.Headers, now.Token, now.PlainToken = r.Headers, r.Token, r.PlainToken
	now.NoEngine, now.FlagsGiven, now.Fallback, now.NoBundle = r.NoEngine, r.FlagsGiven, r.Fallback, r.NoBundle
	for _, field := range []struct{ is, to *string }{
		{&r.URL, &now.URL}, {&r.Instance, &now.Instance}, {&r.CA, &now.CA}, {&r.Cert, &now.Cert}, {&r.Key, &now.Key},
	} {
		*field.to = cmp.Or(*field.is, *field.to)
	}
	for _, field := range []struct{ is, to *[]string }{
		{&r.Inputs, &now.Inputs}, {&r.Outputs, &now.Outputs}, {&r.Platform, &now.Platform}, {&r.Preflight, &now.Preflight},
	} {
		if *field.is != nil {
			*field.to = *field.is
		}
	}
	if r.NoEngine {
		now.URL = ""
	}
	now.Bundle = r.Bundle || past.Bundle && !r.NoBundle
	now.Jobs, now.Priority = cmp.Or(r.Jobs, past.Jobs), cmp.Or(r.Priority, past.Priority)
	now.Wait = cmp.Or(r.Wait, past.Wait)
	return now
}

// ListRemoteArgs returns the flags with which a case runs on the same engine with the same inputs.
// It leaves out secrets.
func ListRemoteArgs(r *regress.Remote) (args []string) {
	if r.URL == "" {
		return nil
	}
	for _, one := range []struct{ flag, value string }{
		{"--remote", r.URL}, {"--instance", r.Instance}, {"--preflight", name.QuoteAll(r.Preflight)},
		{"--tls-ca", r.CA}, {"--tls-cert", r.Cert}, {"--tls-key", r.Key},
	} {
		if one.value != "" {
			args = append(args, one.flag, one.value)
		}
	}
	if r.Priority != 0 {
		args = append(args, "--remote-priority", strconv.Itoa(r.Priority))
	}
	for _, many := range []struct {
		flag   string
		values []string
	}{{"--remote-input", r.Inputs}, {"--remote-output", r.Outputs}, {"--platform", r.Platform}} {
		for _, value := range many.values {
			args = append(args, many.flag, value)
		}
	}
	if r.Bundle {
		args = append(args, "--remote-bundle")
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
