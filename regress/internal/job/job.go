package job

import (
	"muster/regress"
	"muster/regress/internal/content"
	"muster/regress/internal/fault"
	"muster/regress/internal/golden"
	"muster/regress/internal/normalize"
	"muster/regress/internal/plan"
)

// A Job is a command with complete options. Nobody changes a Job: a variant is a copy.
type Job struct {
	regress.Options
	Name    string // of the command, such as "check"
	Rules   normalize.Rules
	Ignored content.IgnoreList
	Chooser *plan.Chooser // chooses cases by Options.Select
}

// Resolve returns the job of a command. It takes options that are not given from recorded, the
// account that a golden gives of its record, unless that is nil. An error is of class Input.
func Resolve(o regress.Options, recorded *golden.Meta, command string) (j Job, err error) {
	if recorded != nil {
		TakeRecorded(&o, *recorded)
		takeSelection(&o.Select, *recorded)
	}
	trim(&o)
	if err := check(&o, command); err != nil {
		return j, err
	}
	CompleteLimits(&o.Limits)
	j = Job{Options: o, Name: command}
	if j.Rules, err = normalize.Parse(o.Judge.Normalize); err != nil {
		return j, fault.Inputf("%w", err)
	}
	if j.Ignored, err = content.ParseIgnore(o.Judge.Ignore); err != nil {
		return j, err
	}
	if j.Chooser, err = PlanSelection(&o.Select).Compile(); err != nil {
		return j, fault.Inputf("%w", err)
	}
	return j, nil
}

// Only returns the job for some of its cases.
func (j Job) Only(names []string) Job {
	j.Select.Only = names
	return j
}
