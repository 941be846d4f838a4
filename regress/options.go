package regress

import (
	"time"
)

// Options are the options of a command, as users give them: what runs, on which cases, and how outcomes are
// compared and reported. "As recorded" means the value that the golden has.
//
// Run.json keeps all fields but those with the tag "-". Those may be secret, belong to this process, or
// only override the options of a past run.
type Options struct {
	Corpus  Corpus
	Command Command
	Select  Selection
	Limits  Limits
	Judge   CompareOptions
	Store   Store
	Remote  Remote
	Report  Report   `json:"-"`
	Helper  []string `json:"-"` // command that starts this program; lane.Argument is appended
	Version string   `json:"-"` // version of this program, which the golden keeps
	// Configured reports that a settings file or MUSTER_ variables would change what a case
	// sees. A shell line that reproduces a case then excludes them.
	Configured bool `json:"-"`
}

// Corpus names the source of the cases.
type Corpus struct {
	Path    string   // archive, folder, or "-" for the standard input; "" = as recorded
	Headers []string // globs of files given to every case; nil = as recorded, else HDR_*
	Context []string // globs of files given to every case that are cases too; nil = as recorded
}

// Command is the command that runs on each case.
type Command struct {
	Words     []string      // nil = as recorded
	ByGlob    []GlobCommand // the first that matches a case replaces Words
	Reference []string      // the trusted command of a compare
	Shell     bool          // /bin/sh -c runs Words
	Stdin     bool          // the source is the command's standard input
	As        string        // the name that every source has for the command; "" = its own
	Env       []string      // K=V; nil = as recorded
	PassEnv   []string      // names of the caller's variables; nil = as recorded
	NoNetwork bool          // cases reach only the loopback of their lane
	// ToolFiles are globs of files that belong to the tool, beside those that the command line
	// names. @GLOB matches lists of such files, as compilers write them with -MD. NoToolFiles are
	// globs of files that do not. nil = as recorded.
	ToolFiles, NoToolFiles []string
	Observe                Observe // "" = ObserveSome
}

// Observe says on which cases the tool is observed, to find its files.
type Observe string

// The choices. Without observing, muster knows the files that the command shows.
const (
	ObserveSome Observe = "some" // the first cases, then every 100th
	ObserveAll  Observe = "all"
	ObserveNone Observe = "none"
)

// GlobCommand is the command for cases that match a glob.
type GlobCommand struct {
	Glob  string
	Words []string
}

// Selection selects cases, orders them, and bounds the number of those that differ.
type Selection struct {
	Globs       []string // a name must match one of them; nil = all names
	Filters     []string // regular expressions; a name must match each, or must not after '!'
	Partition   string   // "hash:K/N", K from 1 to N; "" = all
	Sample      int      // number of cases, always the same ones; 0 = all
	FailedFirst bool     // cases that were not identical in the last check run first
	FailFast    int      // number of cases that are not identical, after which the run stops; 0 = never
	Only        []string // names of the only cases to run; nil = all. --resume sets it to those of the earlier run
	AllCases    bool     // ignores the selection that the golden keeps
	// Recorded is the selection that the golden keeps. Callers leave it empty: check.Run and
	// past.Cases read it from the golden.
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
	Timeout   time.Duration // until a case gets TERM; 0 = as recorded, else TimeoutDefault
	Memory    int64         // bytes, or NoLimit; 0 = as recorded, else NoLimit
	OutputMax int64         // bytes; 0 = as recorded, else OutputMaxDefault
}

// CompareOptions controls how outcomes are compared, and which differences fail a run.
type CompareOptions struct {
	Normalize     []string      // rewrites before comparing; nil = as recorded
	Ignore        []string      // globs of parts that are never compared; nil = as recorded
	Repeat        int           // runs of every case of a record
	RepeatAfter   time.Duration // from the end of a case's first run to its second, in a record
	Retries       int           // further runs of a case that differs
	Runs          int           // runs of an identical case of a check, with the first one; 0 = 1
	Strict        bool          // parts that were not compared make the exit status 1
	Allow         []string      // verdicts that leave the exit status 0: some of flaky, new, missing
	FailOn        []string      // limits of the cost of a change, such as "cpu>5%" or "cpu>5%,memory>10%"
	AllowFailures bool          // a record is written although every case fails
	CostCases     int           // cases that run again to measure the cost of a change; 0 = no measurement
}

// Store names the places of goldens and runs.
type Store struct {
	Golden string // path or http(s) address of the golden
	State  string // folder of past runs; a run makes it
	Resume bool   // goes on with the last run of this command, if it did not finish
	// ForkServer has a check start the command once per lane, and fork it for each case.
	ForkServer bool
	Reuse      bool // a check takes the outcomes of earlier checks where nothing changed since
	// RemoteCache is the address of a cache service. A check takes the outcomes of checks on other machines
	// from there, as with Reuse; "" = none.
	RemoteCache string
}

// Remote describes the Remote Execution engine that runs the cases.
type Remote struct {
	URL string // grpc://HOST:PORT, or grpcs://HOST[:PORT] with TLS; "" = this machine runs the cases
	// Given reports that the user chose an engine or this machine for the command. Otherwise a
	// command that repeats a run takes the run's engine.
	Given bool `json:"-"`
	// Settings is the settings file whose table describes the engine, and Name the name of the
	// table; "" = the default ones.
	Settings, Name string
	Instance       string   // name of an instance of the engine
	Headers        []string `json:"-"` // K=V, sent with every request; may be secret
	Inputs         []string // files and folders that travel with the cases
	Bundle         bool     // the command travels with its shared libraries
	Outputs        []string // globs with tokens, for engines that return no whole folder
	Jobs           int      // cases at once; 0 = RemoteJobsDefault
	Platform       []string // K=V that a worker must have
	Preflight      []string // command that shows that the tool runs there; nil = COMMAND --version
	Priority       int      // of the cases; 0 = the engine's usual one
	// Wait bounds how long an engine may be away or busy; 0 = 30 s, and 1 s until it has
	// answered once.
	Wait time.Duration
	// Files in PEM format. CA has trusted certificates, "" = the system's. Cert and Key are the
	// client's own, "" = none.
	CA, Cert, Key string
	// Token authorises this client at the engine. Only PlainToken lets it travel unencrypted to
	// another machine.
	Token      string `json:"-"`
	PlainToken bool   `json:"-"`
}

// Report describes the reports of a run.
type Report struct {
	Format  Format
	Quiet   bool
	Verbose bool
	Colour  Colour
	GitHub  GitHub
	// Paths of further reports; "" = none.
	JUnit, HTML, Markdown, Events string
}

// Format is the format of results on the standard output.
type Format string

// The formats.
const (
	Text Format = "text"
	JSON Format = "json"
)

// Colour decides whether text is coloured.
type Colour string

// The values of Colour. The zero value means ColourAuto.
const (
	ColourAuto   Colour = "auto" // on terminals, unless NO_COLOR or CLICOLOR_FORCE decides
	ColourAlways Colour = "always"
	ColourNever  Colour = "never"
)

// GitHub decides whether a command annotates the step of GitHub Actions that runs it.
type GitHub string

// The values of GitHub. The zero value means GitHubAuto.
const (
	GitHubAuto GitHub = "auto" // if GITHUB_ACTIONS is true
	GitHubOn   GitHub = "on"
	GitHubOff  GitHub = "off"
)

// Defaults and special values.
const (
	TimeoutDefault    = 60 * time.Second
	Grace             = 2 * time.Second // from TERM to KILL
	OutputMaxDefault  = 64 << 20
	RemoteJobsDefault = 64
	GoldenDefault     = "muster.golden"
	NoLimit           = -1

	// Defaults of the program. In Options a zero means zero.
	RepeatDefault      = 2
	RepeatAfterDefault = time.Second // times in seconds, which most tools print, then differ
	RetriesDefault     = 2
	CostCasesDefault   = 100
)

// Allowable lists the verdicts that CompareOptions.Allow may have.
func Allowable() []string { return []string{"flaky", "new", "missing"} }
