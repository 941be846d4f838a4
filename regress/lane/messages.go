package lane

import (
	"errors"
	"io"
	"time"

	"muster/regress/lane/observe"
)

// Item is a file to place below the work folder.
type Item struct {
	Name   string // path below the work folder
	Target string // target of a symlink; "" = a regular file
	Exec   bool
	Size   int64
	Offset int64  // where the content begins in the archive
	Path   string // path of the content below the corpus folder; "" = it is in an archive
	// Literal says that the content is Content instead of bytes of the corpus. Such a file
	// replaces a given file of the same name for one case.
	Literal bool
	Content string
}

// Setup is the first message to a helper.
type Setup struct {
	Root         string   // the lane's folder; the helper makes work, home and tmp below it
	Outbox       string   // existing folder on the same file system, for the outputs of cases
	Canonical    string   // where cases see Root, in a folder in /tmp that covers the machine's; "" = at Root itself
	Visible      []string // paths below the machine's /tmp, relative to it, that cases see; none is below another
	PIDNamespace bool     // the helper is the init of a PID namespace of its own
	Env          []string
	Given        []Item // files that every case gets
	Timeout      time.Duration
	Grace        time.Duration // between TERM and KILL
	Patience     time.Duration // after KILL; then the lane is given up, with what still runs
	MemoryMax    int64         // bytes of resident memory of a case's tree; 0 = no limit
	OutputMax    int64         // bytes of streams and files of one case
	// ProcessesMax bounds the processes and threads that a case has at a time. A case with
	// more is out of memory, as each takes memory of the kernel.
	ProcessesMax int64
	Limits       []Limit // of every case's processes
	Keep         bool    // leave the folder as the case left it
	NoNetwork    bool    // cases have only the loopback of a network namespace, which is the helper's own
	// Shim is the library that makes a fork server of a command, for jobs that ask for one.
	Shim string
}

// Limit is a limit on a resource, as of prlimit(2).
type Limit struct {
	Resource   int
	Soft, Hard uint64
}

// Ready is the helper's answer to Setup.
type Ready struct {
	Fault         string // why the lane cannot work; "" = it can
	CorpusChanged bool   // the reason of the fault: the corpus is not as it was listed
	DiskFull      bool   // the reason of the fault: the lane's file system has no room
	NoInotify     bool   // the kernel grants no inotify: each case costs a walk and a new folder
	Floor         int64  // KiB: a lower peak memory of a case cannot be measured
	HelperCPU     time.Duration
}

// Batch asks for the runs of several cases, one after another. The helper sends an Answer for
// each, and may end a batch early (BatchEnds). Answers may come together, but none waits for a
// slow case.
type Batch struct{ Jobs []Job }

// Job is one run of one case.
type Job struct {
	Source Item
	Path   string // the executable
	Args   []string
	Stdin  bool // the source is the standard input, instead of /dev/null
	// Observe asks for the files that the command uses. The run takes longer, and its outcome is
	// not for comparison.
	Observe bool
	// Fork asks for a fork of the command's server, which has started and not yet touched its
	// source. The first such job starts the server.
	Fork bool
	// NewServer asks for a fork of a server that is started now.
	NewServer bool
}

// These are the endings of a case. The values are part of the protocol.
const (
	Exited = iota
	Signalled
	TimedOut
	OutOfMemory
	OutputLimit
)

// These are the forms of an Output. The values are part of the protocol.
const (
	Regular = iota
	Symlink
	Gone
)

// Output is a stream that is not empty, or a file that is new, changed or gone after a case.
type Output struct {
	Name    string // path below the work folder
	Form    int
	Exec    bool
	Size    int64
	Content []byte // of a small file; a part of the decoded message
	Stored  string // name in the outbox of any other content
	Target  string // of a symlink
}

// InlineMax bounds the contents that one message holds, in bytes. Small contents go with the
// answer, because a file of its own costs ten system calls more.
const InlineMax = 32 << 10

// Answer is the helper's answer to a Job. If Fault is set, only the reasons below it, Floor,
// HelperCPU, NoInotify and HelperEnds count.
type Answer struct {
	Fault         string // how the machine failed; "" = it did not
	CorpusChanged bool   // the reason of the fault: the corpus is not as it was listed
	DiskFull      bool   // the reason of the fault: the lane's file system has no room
	Stuck         bool   // the reason of the fault: processes of the case do not end
	NoServer      bool   // the reason of the fault: the command is not fit for a fork server
	Kind          int
	Code          int
	CPU           time.Duration // of all processes of the case's tree
	Wall          time.Duration
	Peak          int64 // KiB, of the tree's largest process
	Stdout        Output
	Stderr        Output
	Files         []Output             // sorted by name
	Floor         int64                // as in Ready; it may rise
	HelperCPU     time.Duration        // CPU time of the helper itself since it began
	NoInotify     bool                 // as in Ready; it may change
	HelperEnds    bool                 // the next case needs another helper
	BatchEnds     bool                 // the later jobs of the batch were not run
	Observed      *observe.Observation // nil if the job did not ask for it
}

// A frame is a length (4 bytes, little endian) and a message of that length. A Setup grows
// with the number of given files, about 100 bytes each. An Answer grows with the number of
// files that a case left.
const (
	headerBytes   = 4
	frameBytesMax = 1 << 30
)

var errDamaged = errors.New("damaged message")

// beginFrame leaves space for the header in buf, whose memory is reused.
func beginFrame(buf []byte) []byte { return append(buf[:0], 0, 0, 0, 0) }

// endFrame fills in the header of a message that beginFrame began.
func endFrame(b []byte) []byte {
	n := len(b) - headerBytes
	copy(b, []byte{byte(n), byte(n >> 8), byte(n >> 16), byte(n >> 24)})
	return b
}

// Frames reads messages from a stream. One read takes everything that has come. The zero value
// is ready.
type Frames struct {
	buf      []byte
	filled   int // bytes in buf
	returned int // bytes of the message that Next returned last
}

// bufferBytesMin holds nearly every message. A buffer above bufferBytesKept is not kept for
// the next message: a helper's memory is the floor of what can be measured of a case.
const (
	bufferBytesMin  = 4 << 10
	bufferBytesKept = 64 << 10
)

// Next returns the next message, which is valid until Next is called again. The stream's end
// between two messages is io.EOF, and within one io.ErrUnexpectedEOF. A header with a false
// length costs no memory: the buffer grows with the data that has come.
func (f *Frames) Next(read func([]byte) (int, error)) ([]byte, error) {
	f.filled, f.returned = copy(f.buf, f.buf[f.returned:f.filled]), 0
	if f.buf == nil || f.filled == 0 && len(f.buf) > bufferBytesKept {
		f.buf = make([]byte, bufferBytesMin)
	}
	for {
		size, known, err := f.size()
		switch {
		case err != nil:
			return nil, err
		case known && f.filled >= size:
			f.returned = size
			return f.buf[headerBytes:size], nil
		case f.filled == len(f.buf):
			f.grow(size)
		}
		n, err := read(f.buf[f.filled:])
		f.filled += n
		if err == io.EOF && f.filled > 0 {
			err = io.ErrUnexpectedEOF
		}
		if err != nil && n == 0 {
			return nil, err
		}
	}
}

// size returns the length of the present frame with its header, if that has come.
func (f *Frames) size() (size int, known bool, err error) {
	if f.filled < headerBytes {
		return 0, false, nil
	}
	b := f.buf[:headerBytes]
	n := uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
	if n > frameBytesMax {
		return 0, false, errDamaged
	}
	return headerBytes + int(n), true, nil
}

func (f *Frames) grow(size int) {
	larger := make([]byte, min(size, 2*len(f.buf)))
	copy(larger, f.buf)
	f.buf = larger
}
