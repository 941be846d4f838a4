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
	"context"
	"time"

	"muster/regress/host"
	"muster/regress/internal/fault"
	"muster/regress/internal/report"
	_ "muster/regress/lane" // takes over a process that was started as a lane helper
)

// Options says what to run, on what, and how. The fields without a tag "-" are
// kept with a run, so that it can be run again.
type Options struct {
	Corpus  Corpus
	Command Command
	Select  Selection
	Limits  Limits
	Judge   Judgement
	Store   Store
	Remote  Remote
	Report  Report   `json:"-"`
	Helper  []string `json:"-"` // starts this program; its arguments are followed by lane.Argument
	Version string   `json:"-"` // of this program, noted in the golden
	// Configured says that a configuration file or MUSTER_ variables would change
	// what a case sees: a line that reproduces one keeps them out.
	Configured bool `json:"-"`
}

// Corpus says where the cases come from.
type Corpus struct {
	Path    string   // archive, folder, or "-" for the standard input; empty = as recorded
	Headers []string // globs of files given to every case; nil = as recorded, else HDR_*
	Context []string // globs of files given to every case that are cases too; nil = as recorded
}

// Command says what runs.
type Command struct {
	Words     []string      // empty = as recorded
	ByGlob    []GlobCommand // the first whose glob matches a case takes the place of Words
	Reference []string      // what Compare compares Words with
	Shell     bool
	Stdin     bool     // the source is the command's standard input
	Env       []string // K=V; nil = as recorded
	PassEnv   []string // names of the caller's variables; nil = as recorded
	NoNetwork bool     // cases reach no network but the loopback of their lane
	// ToolFiles and NoToolFiles are globs of files that belong, or do not belong, to the tool
	// beside those that the command line names; nil = as recorded.
	ToolFiles, NoToolFiles []string
}

// GlobCommand is a command for the cases that a glob names.
type GlobCommand struct {
	Glob  string
	Words []string
}

// Selection says which of the cases run, in which order, and when to stop.
type Selection struct {
	Globs       []string // of names, one of them must match; nil = all
	Filters     []string // regular expressions that all must match, or not, after a '!'
	Partition   string   // "hash:K/N", K of 1 to N; "" = all
	Sample      int      // how many of those, always the same; 0 = all
	FailedFirst bool     // begin with what was not identical in the last check
	FailFast    int      // stop after so many that are not identical; 0 = never
	Only        []string // names; nil = all. A resumed run has those that it began with
	AllCases    bool     // lifts the selection that the golden keeps
	// Recorded is the selection that the golden keeps. Check and Cases find it there.
	Recorded RecordedSelection
}

// RecordedSelection is the part of a Selection that a golden keeps.
type RecordedSelection struct {
	Globs     []string
	Filters   []string
	Partition string
	Sample    int
}

// Limits bounds a run and each of its cases.
type Limits struct {
	Jobs      int           // cases at once; 0 = one after another without a pool
	Timeout   time.Duration // for a case, then TERM; 0 = as recorded, else TimeoutDefault
	Grace     time.Duration // between TERM and KILL
	Memory    int64         // bytes, NoLimit = none; 0 = as recorded, else none
	OutputMax int64         // bytes; 0 = as recorded, else OutputMaxDefault
}

// Judgement says what counts as different.
type Judgement struct {
	Normalize []string // nil = as recorded
	Ignore    []string // globs of parts that are never compared; nil = as recorded
	Repeat    int      // runs of every case when recording
	Retries   int      // further runs of a differing case when checking
	Runs      int      // runs of an identical case when checking, the first included; 0 is 1
	Strict    bool     // that something was not compared makes the exit status 1
	Allow     []string // names of verdicts that do not make the exit status 1: flaky, new, missing
	FailOn    []string // limits of what the change may cost, as "cpu>5%" or "cpu>5%,memory>10%"
	// SameCorpus refuses to run where a source is not the recorded one.
	SameCorpus bool
	// AllowFailures writes a golden although every case fails.
	AllowFailures bool
	CostCases     int // cases that run again to tell what the change costs; 0 = it is not told
}

// Store says where things are kept.
type Store struct {
	Golden string // file, with others of that name beside it while it is written; or an http(s) address, see package files
	State  string // folder, made when it is needed
	Resume bool   // go on with the last run of this command, if it did not finish
}

// Remote says which engine of the Remote Execution API runs the cases, and what goes there.
type Remote struct {
	URL        string   // grpc://HOST:PORT, or grpcs://HOST[:PORT] with TLS; "" = they run on this machine
	NoEngine   bool     `json:"-"` // the cases run on this machine, though those of the past run did not
	Instance   string   // one of several that an engine has
	FlagsGiven []string `json:"-"` // flags of an engine that the user gave now: refused where none runs the cases
	Headers    []string `json:"-"` // K=V that go with every request, perhaps secrets
	Inputs     []string // files and folders that travel with the cases
	Bundle     bool     // the command travels, with its shared libraries
	NoBundle   bool     `json:"-"` // the command does not travel, though that of the past run did
	Outputs    []string // what a case may leave, as globs with tokens: for engines that give no whole folder
	Jobs       int      // cases at once; 0 = RemoteJobsDefault
	Platform   []string // K=V that a worker must have
	Preflight  []string // command that shows that the tool runs there; nil = COMMAND --version
	Fallback   bool     `json:"-"` // where the engine cannot be reached at the beginning, the cases run here
	Priority   int      // of the cases, as the engine has it; 0 is its usual
	// Wait is for an engine that is away or busy; 0 = 30 s once it has answered, and a second before.
	Wait time.Duration
	// Files in PEM: certificates to trust, the client's own and its key. "" = the system's, none.
	CA, Cert, Key string
	// Token is the engine's own, which a server with files never sees, nor the engine that one's.
	// PlainToken sends it unencrypted to other machines as well.
	Token      string `json:"-"`
	PlainToken bool   `json:"-"`
}

// Report says how to report, and to which files.
type Report struct {
	Format  Format
	Quiet   bool
	Verbose bool
	Colour  Colour
	// Files; "" = none.
	JUnit, HTML, Markdown, Events string
	// Resume is the shell line that goes on with the run, for the text report; "" = unknown.
	Resume string
}

// Format of the results on the standard output.
type Format string

// The formats.
const (
	Text Format = "text"
	JSON Format = "json"
)

// Colour says which text is coloured.
type Colour string

// the values of Colour.
const (
	ColourAuto   Colour = "auto" // on a terminal, and as NO_COLOR and CLICOLOR_FORCE say; "" is the same
	ColourAlways Colour = "always"
	ColourNever  Colour = "never"
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

// A Func is a command whose report ends with a summary: Record, Check or Compare, or a call
// of Rerun, Diff or Replay with all but the options and the host given.
type Func func(context.Context, Options, host.Host) (Summary, error)

// What holds where nothing else is said.
const (
	TimeoutDefault   = 60 * time.Second
	GraceDefault     = 2 * time.Second
	OutputMaxDefault = 64 << 20
	RepeatDefault    = 2   // of the program; Options must name it
	RetriesDefault   = 2   // likewise: 0 is none
	CostCasesDefault = 100 // likewise

	RemoteJobsDefault = 64
	NoLimit           = -1
	GoldenDefault     = "muster.golden"
)
