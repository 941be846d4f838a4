package regress

import (
	"errors"
	"os"
	"slices"

	"muster/regress/internal/fault"
	"muster/regress/internal/golden"
	"muster/regress/internal/outcome"
	"muster/regress/internal/plan"
)

// noGolden words the failure to open a golden.
func noGolden(path string, err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return fault.Inputf("no golden %s: make one with muster record, or name it with --golden", path)
	}
	return err
}

// corpusFlag is the key under which a golden keeps the path of its corpus.
const corpusFlag = "corpus"

// asRecorded fills in corpus and command from the golden when they were not
// given: a plain `muster check` does again what was recorded.
func (o *Options) asRecorded(m golden.Meta) {
	if o.Corpus.Path == "" && m.Flags[corpusFlag] != "-" {
		o.Corpus.Path = m.Flags[corpusFlag]
	}
	if len(o.Command.Words) == 0 && len(o.Command.ByGlob) == 0 {
		for _, c := range m.Command {
			if c.Glob == "" {
				o.Command.Words = slices.Clone(c.Args)
			} else {
				o.Command.ByGlob = append(o.Command.ByGlob, GlobCommand{c.Glob, slices.Clone(c.Args)})
			}
		}
	}
}

// compareFlags warns of settings that are not those of the golden: they change
// what cases see, and a difference may come from them.
func (s *session) compareFlags(m golden.Meta) {
	now := s.o.flags()
	for _, key := range []string{"--headers", "--context", "--env", "--pass-env", "--stdin", "--shell"} {
		if was, is := m.Flags[key], now[key]; was != is {
			s.warn("the golden was recorded with " + worded(key, was) + ", this check has " + worded(key, is))
		}
	}
}

func worded(key, value string) string {
	if value == "" {
		return "no " + key
	}
	return key + " " + value
}

// allowed returns the verdicts that --allow names.
func (o *Options) allowed() []outcome.Verdict {
	var list []outcome.Verdict
	for _, v := range outcome.Verdicts() {
		if slices.Contains(o.Judge.Allow, v.String()) {
			list = append(list, v)
		}
	}
	return list
}

// ordered returns the selected cases in the order in which they run.
func (s *session) ordered() []task {
	tasks := s.all()
	if !s.o.Select.FailedFirst {
		return tasks
	}
	failed, err := s.lastNotIdentical()
	if err != nil {
		s.warn("--failed-first: " + err.Error())
		return tasks
	}
	names := make([]string, len(tasks))
	indices := make([]int, len(tasks))
	for i, t := range tasks {
		names[i], indices[i] = t.entry.Name, i
	}
	ordered := make([]task, 0, len(tasks))
	for _, i := range plan.Order(indices, names, failed) {
		ordered = append(ordered, tasks[i])
	}
	return ordered
}

// lastNotIdentical returns the names of the cases that were not identical in
// the last check or compare.
func (s *session) lastNotIdentical() (map[string]bool, error) {
	last, err := s.state.Find("", isChecking)
	if err != nil {
		return nil, err
	}
	return notIdentical(last)
}
