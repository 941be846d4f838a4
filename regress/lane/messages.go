package lane

import "time"

// Item is a file to be placed below the work folder.
type Item struct {
	Name   string // path below the work folder
	Target string // not empty: a symlink with that target
	Exec   bool
	Size   int64
	Offset int64  // of the content in the archive
	Path   string // not empty: the content's path below the corpus folder
	// Own says that the content is Content, and not in the corpus: it takes the place of
	// a given file of that name for one case.
	Own     bool
	Content string
}

// Setup is the first message to a helper.
type Setup struct {
	Root      string // the lane's folder: work, home and tmp are made below it
	Outbox    string // existing folder on the same file system, for what cases leave
	Canonical string // where Root is mounted for the cases; empty = they see Root itself
	PIDs      bool   // the helper is the init of a PID namespace of its own
	Env       []string
	Given     []Item // present for every case
	Timeout   time.Duration
	Grace     time.Duration // between TERM and KILL
	Patience  time.Duration // after KILL; what is there then is given up, and the lane with it
	MemoryMax int64         // bytes of resident memory of a case's tree; 0 = no limit
	OutputMax int64         // bytes of streams and files of one case
	// How many processes and threads a case may have at a time. More is taken as
	// out of memory: each takes the kernel's.
	ProcessesMax int64
	Keep         bool // leave the folder as the case left it
	NoNetwork    bool // the helper has a network namespace of its own, and cases have its loopback alone
}

// Ready is the helper's answer to Setup.
type Ready struct {
	Fault   string // not empty: the lane cannot work, and why
	Changed bool   // why: the corpus is no longer what it was
	Full    bool   // why: the lane's file system has no room
	Blind   bool   // the kernel grants no inotify: each case costs a walk and a new folder
	Floor   int64  // KiB below which a case's peak memory cannot be told
	Own     time.Duration
}

// Batch asks for the runs of several cases, one after another. The helper answers
// each with a Done, and may leave out what is behind a case: it tells by End.
// Answers may come together; a case that takes its time keeps none of them waiting.
type Batch struct{ Jobs []Job }

// Job is one run of one case.
type Job struct {
	Source Item
	Path   string // of the executable
	Args   []string
	Stdin  bool // the source is the standard input; else /dev/null
}

// How a case ended; the values are part of the protocol.
const (
	Exited = iota
	Signalled
	TimedOut
	OutOfMemory
	OutputLimit
)

// What a Left is; the values are part of the protocol.
const (
	Regular = iota
	Symlink
	Gone
)

// Left is a stream with something in it, or a file that is new, changed or gone
// after a case.
type Left struct {
	Name    string // path below the work folder
	Form    int
	Exec    bool
	Size    int64
	Content []byte // of a small file; a part of the message that was decoded
	Stored  string // of any other: the name in the outbox of the file that has it
	Target  string // of a symlink
}

// InlineMax is how many bytes of contents one message holds at most. What is
// small goes with the answer: a file of its own costs ten system calls more.
const InlineMax = 32 << 10

// Done is the helper's answer to a Job.
type Done struct {
	Fault   string // not empty: the machine failed, and why; nothing else but Floor, Own, Blind and Last counts then
	Changed bool   // why: the corpus is no longer what it was
	Full    bool   // why: the lane's file system has no room
	Stuck   bool   // why: processes of the case do not end
	Kind    int
	Code    int
	CPU     time.Duration // of all processes of the case's tree
	Wall    time.Duration
	Peak    int64 // KiB, of the tree's largest process
	Stdout  Left
	Stderr  Left
	Files   []Left        // sorted by name
	Floor   int64         // as in Ready: it may rise
	Own     time.Duration // CPU of the helper itself since it began
	Blind   bool          // as in Ready: it may change
	Last    bool          // the helper ends now: the next case needs another
	End     bool          // the batch ends here: what is behind this job in it was not run
}
