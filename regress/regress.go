// Package regress runs a command over the cases of a corpus, keeps everything
// that comes out as the golden, and proves after each change to the command
// that the same comes out, or shows what does not.
//
// Its functions are the commands of the program: each takes options and reports
// on the streams of its host; those whose report ends with a summary return it. Their
// errors have a class, see ClassOf, and say what to do in the words of the program. What
// writes to a golden, or keeps a run in a state folder, locks it, so that two may run at
// once: the second gets an error of class Input. It must not parse flags.
//
// Cases run in helper processes that are this same program (package lane): a
// program that imports regress carries the helper with it.
package regress

import (
	"muster/regress/internal/fault"
	"muster/regress/internal/job"
	"muster/regress/internal/opt"
	"muster/regress/internal/report"
	_ "muster/regress/lane" // takes over a process that was started as a lane helper
)

// The options of a command, and their parts.
type (
	Options           = opt.Options
	Corpus            = opt.Corpus
	Command           = opt.Command
	GlobCommand       = opt.GlobCommand
	Selection         = opt.Selection
	RecordedSelection = opt.RecordedSelection
	Limits            = opt.Limits
	CompareOptions    = opt.CompareOptions
	Store             = opt.Store
	Remote            = opt.Remote
	Report            = opt.Report
	Format            = opt.Format
	Colour            = opt.Colour
)

// Values and defaults of options.
const (
	Text              = opt.Text
	JSON              = opt.JSON
	ColourAuto        = opt.ColourAuto
	ColourAlways      = opt.ColourAlways
	ColourNever       = opt.ColourNever
	TimeoutDefault    = opt.TimeoutDefault
	GraceDefault      = opt.GraceDefault
	OutputMaxDefault  = opt.OutputMaxDefault
	RepeatDefault     = opt.RepeatDefault
	RetriesDefault    = opt.RetriesDefault
	CostCasesDefault  = opt.CostCasesDefault
	RemoteJobsDefault = opt.RemoteJobsDefault
	NoLimit           = opt.NoLimit
	GoldenDefault     = opt.GoldenDefault
)

// Summary is how a run ended.
type Summary = report.Summary

// Class says whose move it is when a command fails.
type Class = fault.Class

// The classes of failures.
const (
	None        = fault.None
	Input       = fault.Input
	Environment = fault.Environment
	Empty       = fault.Empty
	Interrupted = fault.Interrupted
)

// ClassOf returns the class of an error of this package.
func ClassOf(err error) Class { return fault.ClassOf(err) }

// Allowable lists the verdicts that CompareOptions.Allow may have.
func Allowable() []string { return job.Allowable() }
