// Package probe measures one question about concurrency, once, in this process. Questions are
// the cost of a task on a pool, an item through a channel, a goroutine, a file operation, a
// log line, a message, a lock or a wake-up. A [Question] is a value with the options of its measurement.
// [Args] turns it into arguments of a fresh process, where [Run] measures it.
//
// For reliable figures, run each probe many times, in turns with others. The package must not
// repeat, average or judge.
package probe

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"syscall"
	"time"

	"muster/lab/results"
)

// A Question is one measurement. Its fields are its options, and must be exported.
type Question interface {
	measure(Input) (results.Sample, error)
}

// An Input is what a probe gets beside its question. Words and Dir are not in the JSON of the
// options, because JSON would change names that are not UTF-8.
type Input struct {
	ctx    context.Context
	words  []string // paths, and words of commands
	dir    string   // an empty folder
	gated  bool
	stdin  io.Reader
	stdout io.Writer
}

// questions returns a value of each type. Serve and Block are processes that others need.
func questions() []Question {
	return []Question{Dispatch{}, Channel{}, Started{}, Procs{}, Spawn{}, Waiting{}, Workers{}, Files{}, Rename{}, Log{},
		Store{}, Upload{}, Serve{}, Codec{}, Echo{}, Lock{}, WakeUp{}, Exhaust{}, Block{}, Corpus{}, Make{}}
}

// nameOf returns the name of a question: that of its type, in lower case.
func nameOf(q Question) string {
	return strings.ToLower(strings.TrimPrefix(fmt.Sprintf("%T", q), "probe."))
}

// Gate is the flag that makes a probe wait until its standard input ends. Ready is the line
// that the probe prints when it is ready to start. Only [Channel] has a gate.
const (
	Gate  = "gate"
	Ready = "ready"
)

// Args returns the arguments that make [Run] measure a question.
func Args(q Question, words ...string) []string {
	text, err := json.Marshal(q)
	if err != nil {
		panic(err) // they are numbers and texts
	}
	args := []string{nameOf(q), "-options", string(text)}
	for _, word := range words {
		args = append(args, "-word", word)
	}
	return args
}

// Run measures one question and prints a line in Go's benchmark format. The arguments may change
// with every version.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout io.Writer) error {
	if len(args) == 0 {
		return errors.New("the name of a question is required")
	}
	in, options := Input{ctx: ctx, stdin: stdin, stdout: stdout}, ""
	f := flag.NewFlagSet(args[0], flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.StringVar(&options, "options", "{}", "")
	f.Func("word", "", func(word string) error {
		in.words = append(in.words, word)
		return nil
	})
	f.StringVar(&in.dir, "dir", "", "")
	f.BoolVar(&in.gated, Gate, false, "")
	if err := f.Parse(args[1:]); err != nil {
		return err
	}
	q, err := decode(args[0], options)
	if err != nil {
		return err
	}
	s, err := q.measure(in)
	if err != nil || s.N == 0 {
		return err
	}
	s.Name = args[0]
	_, err = fmt.Fprintln(stdout, s)
	return err
}

// decode returns the question of a name with its options.
func decode(name, options string) (Question, error) {
	for _, q := range questions() {
		if nameOf(q) != name {
			continue
		}
		v := reflect.New(reflect.TypeOf(q))
		d := json.NewDecoder(strings.NewReader(options))
		d.DisallowUnknownFields()
		err := d.Decode(v.Interface())
		return v.Elem().Interface().(Question), err
	}
	return nil, fmt.Errorf("unknown question %q", name)
}

// cost is the time of a number of operations.
type cost struct {
	n         int
	wall, cpu time.Duration // cpu is user and system time of this process
}

// measure times run, which does n operations.
func measure(n int, run func(n int)) cost {
	cpu, began := usage(syscall.RUSAGE_SELF), time.Now()
	run(n)
	wall := time.Since(began)
	return cost{n, wall, usage(syscall.RUSAGE_SELF).since(cpu).sum()}
}

// measureEach is like measure, for operations that may fail.
func measureEach(n int, run func(n int) error) (c cost, err error) {
	c = measure(n, func(n int) { err = run(n) })
	return c, err
}

// sample converts a cost to a sample, with further values.
func (c cost) sample(more ...results.Value) results.Sample {
	return results.Sample{N: c.n, Values: append([]results.Value{
		{Unit: results.NsPerOp, Figure: float64(c.wall) / float64(c.n)}, {Unit: results.CPUPerOp, Figure: float64(c.cpu) / float64(c.n)},
	}, more...)}
}

func value[N int | int64 | uint64 | time.Duration | float64](unit string, figure N) results.Value {
	return results.Value{Unit: unit, Figure: float64(figure)}
}

// cpuTimes are CPU times, as the shell's time reports them.
type cpuTimes struct{ user, system time.Duration }

func (t cpuTimes) sum() time.Duration { return t.user + t.system }

func (t cpuTimes) plus(other cpuTimes) cpuTimes {
	return cpuTimes{t.user + other.user, t.system + other.system}
}

func (t cpuTimes) since(earlier cpuTimes) cpuTimes {
	return cpuTimes{t.user - earlier.user, t.system - earlier.system}
}

// usage returns the times of this process or of its children that have ended, 0 if they are unknown.
func usage(who int) cpuTimes {
	var u syscall.Rusage
	if syscall.Getrusage(who, &u) != nil {
		return cpuTimes{}
	}
	return cpuTimes{time.Duration(u.Utime.Nano()), time.Duration(u.Stime.Nano())}
}

// keptMax bounds the output of a process that is kept.
const keptMax = 64 << 10

// FirstBytes keeps the beginning of its input: a result is one line, and an error precedes the
// stacks. The stacks of thousands of goroutines take megabytes.
type FirstBytes struct{ Bytes []byte }

func (f *FirstBytes) Write(p []byte) (int, error) {
	f.Bytes = append(f.Bytes, p[:min(len(p), keptMax-len(f.Bytes))]...)
	return len(p), nil
}

// firstLine returns the text before the first line break.
func (f *FirstBytes) firstLine() string {
	line, _, _ := strings.Cut(strings.TrimSpace(string(f.Bytes)), "\n")
	return line
}

// Explain adds the first line to an error.
func (f *FirstBytes) Explain(err error) error {
	line := f.firstLine()
	if err == nil || line == "" {
		return err
	}
	return fmt.Errorf("%w: %s", err, results.Excerpt(line))
}

// A PipedProcess is a process whose standard streams are pipes of this one.
type PipedProcess struct {
	Cmd    *exec.Cmd
	In     io.Closer     // closing it ends the standard input
	Out    *bufio.Reader // the beginning of the standard output
	Failed FirstBytes    // of the standard error
}

// StartPiped starts a process.
func StartPiped(c *exec.Cmd) (*PipedProcess, error) {
	p := &PipedProcess{Cmd: c}
	c.Stderr = &p.Failed
	in, err := c.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.In, p.Out = in, bufio.NewReader(io.LimitReader(out, keptMax))
	return p, c.Start()
}

// requireEmpty fails unless dir is an empty folder, because a probe removes everything in it.
func requireEmpty(dir string) error {
	entries, err := os.ReadDir(dir)
	if err == nil && len(entries) > 0 {
		err = fmt.Errorf("%s is not empty: name an empty folder, because the probe removes everything in its folder", dir)
	}
	return err
}
