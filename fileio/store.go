package fileio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"muster/internal/fair"
	"muster/internal/filelock"
	"muster/pool"
)

// Sync is when a file that was written outlives a power failure.
type Sync int

const (
	// SyncGroup: when Put returns. Files that are written at the same time are flushed
	// together, by one flush of their file system; where the system has no such flush, as
	// macOS, it is SyncEach.
	SyncGroup Sync = iota
	// SyncEach: when Put returns. Each file is flushed by itself, and its folder.
	SyncEach
	// SyncNone: when the system likes, some half a minute later. That the process is
	// killed harms no file.
	SyncNone
)

// Options of a store; the zero value is what most want.
type Options struct {
	Sync Sync

	// MemoryMax is how many bytes of files may be in memory at the same time; 0 = 128 MiB.
	// Half of it is for files on their way to the disk, the other half for files on their way
	// from it. Beyond that Put reads no more than a byte, and Get does not return, until
	// others are done.
	MemoryMax int64

	// WaitingMax is how many operations may wait for the engine at a time, transfers and
	// those about names alone each; 0 = 1024. One more is refused with [ErrBusy]. A client may
	// have as many of these places as it leaves for others.
	WaitingMax int

	// WaitMax is how long an operation may wait for the engine, or for memory, before it is
	// refused with ErrBusy; 0 = as long as it takes. Once Put writes its file, or Get has
	// returned one, the operation is not refused any more.
	WaitMax time.Duration

	// JobsOnly has the engine read what the system has in memory too, which is otherwise
	// read without a job, for it takes no time: to compare engines.
	JobsOnly bool
}

const (
	memoryDefault  = 128 << 20
	waitingDefault = 1024
)

// MemoryLeast is the least of MemoryMax.
const MemoryLeast = 4 * chunkSize

// Info is what is known of a file.
type Info struct {
	Name    string
	Size    int64
	Changed time.Time
	Tag     string // no other content of that name has it: it changes with every Put
}

// A Store is files under names in a folder. It has one lock of that folder, so that no
// other process writes to it at the same time. All methods may be called by any number of
// goroutines at the same time, but for Close.
//
// What a Put has replaced is seen whole by those who read it already. Errors about a name
// are *fs.PathError with that name, and the system's reason, as fs.ErrNotExist; those of
// an engine that has too much to do are [ErrBusy].
type Store struct {
	engine  Engine
	options Options

	lock    *os.File
	folders [folders]*os.File

	transfers, light *fair.Budget // of places at the engine
	reads, writes    *memory

	cache cache
	names *nameLocks
	doors *nameLocks // see enterName
	index index
	temps atomic.Uint64
	run   string // tells this process's temporary files from those of others

	checking chan struct{} // has one while Check is at work

	group *committer // nil = files are not flushed together
}

// What lies in the folder beside those of the files.
const (
	formatName = "format"
	formatTemp = "format~" // before it has its name
	formatText = "muster files 1\n"
	lockName   = "lock"
)

// Open opens the folder, which it makes where there is none, and takes away what an
// interrupted process left in it. Which format a folder has stands in it: every later
// version opens this one.
func Open(folder string, engine Engine, o Options) (*Store, error) {
	if o.MemoryMax == 0 {
		o.MemoryMax = memoryDefault
	}
	if o.MemoryMax < MemoryLeast {
		return nil, fmt.Errorf("memory of %d bytes: %d are the least", o.MemoryMax, MemoryLeast)
	}
	if o.WaitingMax == 0 {
		o.WaitingMax = waitingDefault
	}
	if o.WaitingMax < 1 {
		return nil, fmt.Errorf("%d operations that wait: 1 or more are possible", o.WaitingMax)
	}
	if o.Sync == SyncGroup && !flushesAll {
		o.Sync = SyncEach // which promises as much
	}
	s := &Store{
		engine: engine, options: o, names: newNameLocks(), doors: newNameLocks(),
		reads: newMemory(o.MemoryMax/2, o), writes: newMemory(o.MemoryMax/2, o),
		checking: make(chan struct{}, 1),
		run:      strconv.FormatUint(rand.Uint64(), 36),
	}
	room := engine.Room()
	s.transfers = places(room.Transfers, o)
	s.light = s.transfers
	if room.Light > 0 {
		s.light = places(room.Light, o)
	}
	err := s.open(folder)
	if err == nil {
		err = s.look()
	}
	if err != nil {
		return nil, errors.Join(err, s.closeFolders())
	}
	s.cache.begin(s.descriptor(0))
	if o.Sync == SyncGroup {
		s.group = newCommitter(s)
	}
	return s, nil
}

// places returns a budget of the engine's room for one kind of jobs.
func places(room int, o Options) *fair.Budget {
	return fair.New(fair.Options{Size: int64(room), WaitingMax: o.WaitingMax, WaitMax: o.WaitMax})
}

// do has the engine execute a job when it is the client's turn. If the job was not begun, do
// returns [ErrBusy] or the context's error.
func (s *Store) do(ctx context.Context, j *Job) error {
	leave, err := s.enter(ctx, j.Op, (*fair.Budget).Take)
	if err != nil {
		return err
	}
	defer leave()
	return s.engine.Do(j)
}

// turn is do for a piece of a file whose transfer has begun. It never returns ErrBusy.
func (s *Store) turn(ctx context.Context, j *Job) error {
	leave, err := s.enter(ctx, j.Op, (*fair.Budget).TakeLate)
	if err != nil {
		return err
	}
	defer leave()
	return s.engine.Do(j)
}

// enterName waits for the client's turn, and then locks a name, alone or together with others
// that do not want it alone. A request that has the lock must not wait for a turn, for the
// committer waits for that lock. And a request that has a turn must not wait for the lock for
// long, for others want the turn: so those who want one name wait at its door first.
func (s *Store) enterName(ctx context.Context, op Op, name string, alone bool) (leave func(), err error) {
	leaveDoor := s.doors.lock(name, alone)
	leaveTurn, err := s.enter(ctx, op, (*fair.Budget).Take)
	if err != nil {
		leaveDoor()
		return nil, err
	}
	unlock := s.names.lock(name, alone)
	return func() { unlock(); leaveTurn(); leaveDoor() }, nil
}

// enter waits for the client's turn.
func (s *Store) enter(ctx context.Context, op Op, take func(*fair.Budget, context.Context, fair.Client) error) (leave func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	b, c := s.transfers, fair.ClientOf(ctx)
	if op.Light() {
		b = s.light
	}
	if err := take(b, ctx, c); err != nil {
		return nil, err
	}
	return func() { b.Give(c, 1) }, nil
}

// Stats returns the figures of the engine, of the operations that wait for it, and of memory.
func (s *Store) Stats() Stats {
	all := s.engine.Stats()
	budgets := []*fair.Budget{s.transfers}
	if s.light != s.transfers {
		budgets = append(budgets, s.light)
	}
	for _, b := range budgets {
		one := b.Stats()
		all.Waiting += int(one.Waiting)
		all.Refused += one.Refused
		all.Wait += one.Wait
	}
	for _, m := range []*memory{s.reads, s.writes} {
		one := m.budget.Stats()
		all.Refused += one.Refused
		all.Memory += one.Held * int64(bufferSizes[0])
	}
	return all
}

func (s *Store) open(folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	format := filepath.Join(folder, formatName)
	if _, err := os.Lstat(format); errors.Is(err, fs.ErrNotExist) {
		// Before anything is written, for a file lock may be somebody else's too.
		if err := mustBeEmpty(folder); err != nil {
			return err
		}
	}
	if err := s.takeLock(filepath.Join(folder, lockName)); err != nil {
		return err
	}
	text, err := readFormat(format)
	switch {
	case errors.Is(err, fs.ErrNotExist): // and nobody else makes one now
	case err != nil:
		return err
	case string(text) != formatText:
		return fmt.Errorf("%s says %q, and this program knows %q: a later version wrote the folder", format, strings.TrimSpace(string(text)), strings.TrimSpace(formatText))
	}
	for i := range s.folders {
		name := filepath.Join(folder, fmt.Sprintf("%02x", i))
		if err := os.Mkdir(name, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		// Never through a link that somebody planted.
		if s.folders[i], err = os.OpenFile(name, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0); err != nil {
			return err
		}
	}
	if text == nil {
		return writeFormat(folder, format)
	}
	return nil
}

// mustBeEmpty refuses a folder that has something of somebody else's in it.
func mustBeEmpty(folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if n, err := strconv.ParseUint(e.Name(), 16, 8); err == nil && fmt.Sprintf("%02x", n) == e.Name() {
			continue // of a first start that was interrupted
		}
		if e.Name() != lockName && e.Name() != formatTemp {
			return fmt.Errorf("%s has %s in it and is no store of files: name an empty folder, or one that does not exist", folder, e.Name())
		}
	}
	return nil
}

// readFormat reads as much of it as can be shown. As all that is opened here it is no link
// that somebody planted, nor a pipe.
func readFormat(name string) ([]byte, error) {
	file, err := os.OpenFile(name, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, int64(2*len(formatText))))
}

// writeFormat is the last that makes a folder a store; with it all folders are kept.
func writeFormat(folder, name string) error {
	temp := filepath.Join(folder, formatTemp)
	file, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|unix.O_NOFOLLOW, 0o644)
	if err != nil {
		return err
	}
	// Its bytes before its name, or a power failure might leave an empty one.
	_, err = file.WriteString(formatText)
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	if err := os.Rename(temp, name); err != nil {
		return err
	}
	top, err := os.Open(folder)
	if err != nil {
		return err
	}
	return errors.Join(top.Sync(), top.Close())
}

func (s *Store) takeLock(name string) error {
	file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o644)
	if err != nil {
		return err
	}
	s.lock = file
	current, err := filelock.Take(file)
	if err == nil && !current {
		err = fmt.Errorf("%s was replaced", name)
	}
	if err != nil {
		return fmt.Errorf("%s: %w%s", filepath.Dir(name), err, filelock.Holder(name))
	}
	filelock.Sign(file)
	return nil
}

// tempPrefix begins the names of temporary files, and of no others.
const tempPrefix = "~"

// look looks through the folders. It takes away what an interrupted process was writing, and
// notes the names of the files.
func (s *Store) look() error {
	numbers := make([]int, folders)
	for i := range numbers {
		numbers[i] = i
	}
	return pool.ForEach(context.Background(), openAtOnce, numbers, func(_ context.Context, i int) error {
		j := Job{Op: OpList, Folder: s.descriptor(i)}
		if err := s.engine.Do(&j); err != nil {
			return err
		}
		var names []string
		for _, encoded := range j.Names {
			if name, ok := decode(encoded); ok { // else it is nobody's file
				names = append(names, name)
			}
			if !strings.HasPrefix(encoded, tempPrefix) {
				continue
			}
			j := Job{Op: OpDiscard, Folder: s.descriptor(i), Temp: encoded}
			if err := s.engine.Do(&j); err != nil {
				return err
			}
		}
		s.index.fill(names)
		return nil
	})
}

// openAtOnce is how many folders are looked through at a time.
const openAtOnce = 8

func (s *Store) descriptor(folder int) int { return int(s.folders[folder].Fd()) }

// temp is a name for a new temporary file.
func (s *Store) temp() string {
	return tempPrefix + s.run + "-" + strconv.FormatUint(s.temps.Add(1), 36)
}

// Close waits for what is being written, and gives the folder to others. No method must be
// called after it, or at the same time. The engine stays, for its maker to close.
func (s *Store) Close() error {
	s.checking <- struct{}{} // who has it may still use the folders
	if s.group != nil {
		s.group.close()
	}
	return s.closeFolders()
}

func (s *Store) closeFolders() error {
	var errs []error
	for _, f := range s.folders {
		if f != nil {
			errs = append(errs, f.Close())
		}
	}
	if s.lock != nil {
		errs = append(errs, s.lock.Close())
	}
	return errors.Join(errs...)
}

// infoOf is a file as the system knows it. Its tag has the number of the file beside the
// time, whose steps are some milliseconds: a new file has another number than the one that
// it replaces.
func infoOf(name string, e Entry) Info {
	return Info{
		Name: name, Size: e.Size, Changed: e.Changed,
		Tag: fmt.Sprintf("%x-%x-%x", e.Inode, e.Changed.UnixNano(), e.Size),
	}
}

// failed is the error of an operation on a file.
func failed(op, name string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrBusy), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), errors.Is(err, ErrChanged):
		return err
	}
	return &fs.PathError{Op: op, Path: name, Err: err}
}

// Stat tells what is known of a file.
func (s *Store) Stat(ctx context.Context, name string) (Info, error) {
	if err := CheckName(name); err != nil {
		return Info{}, err
	}
	e, err := s.statFor(ctx, placeOf(name))
	return infoOf(name, e), failed("stat", name, err)
}

// statFor is stat, executed when it is the client's turn.
func (s *Store) statFor(ctx context.Context, at place) (Entry, error) {
	j := Job{Op: OpStat, Folder: s.descriptor(at.folder), Name: at.name}
	err := s.do(ctx, &j)
	return j.Info, err
}

func (s *Store) stat(at place) (Entry, error) {
	j := Job{Op: OpStat, Folder: s.descriptor(at.folder), Name: at.name}
	err := s.engine.Do(&j)
	return j.Info, err
}

// Check writes something to the disk and takes it away again, by a thread for transfers, and
// returns why that did not succeed: on a disk that hangs, because ctx has ended.
func (s *Store) Check(ctx context.Context) error {
	slow := func() error { return fmt.Errorf("the disk did not answer: %w", ctx.Err()) }
	select {
	case s.checking <- struct{}{}: // one at a time: on a disk that hangs none returns
	case <-ctx.Done():
		return slow()
	}
	done := make(chan error, 1)
	go func() {
		defer func() { <-s.checking }()
		j := Job{Op: OpStage, Folder: s.descriptor(0), Temp: s.temp(), Data: []byte("check"), Sync: true}
		err := s.do(ctx, &j)
		if err == nil {
			j.Op = OpDiscard
			err = s.engine.Do(&j)
		}
		done <- err
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return slow()
	}
}

// A Condition decides, with what is there, whether a change is made; nil stands for no
// file. It is asked last when nothing changes between its answer and what follows; Put asks
// it before it reads, too.
type Condition func(now *Info) bool

// ErrChanged is the error of a change that its condition did not want.
var ErrChanged = errors.New("the file is not as it was wanted to be")

// check asks a condition; nil wants anything.
func (s *Store) check(name string, at place, want Condition) error {
	if want == nil {
		return nil
	}
	e, err := s.stat(at)
	return answer(name, e, err, want)
}

// answer returns ErrChanged if a condition does not want what stat returned.
func answer(name string, e Entry, err error, want Condition) error {
	var now *Info
	switch {
	case err == nil:
		info := infoOf(name, e)
		now = &info
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if !want(now) {
		return ErrChanged
	}
	return nil
}

// Delete removes a file, if want is nil or allows it.
func (s *Store) Delete(ctx context.Context, name string, want Condition) error {
	if err := CheckName(name); err != nil {
		return err
	}
	at := placeOf(name)
	leave, err := s.enterName(ctx, OpDelete, name, true)
	if err != nil {
		return err
	}
	defer leave()
	if err := s.check(name, at, want); err != nil {
		return failed("delete", name, err)
	}
	j := Job{Op: OpDelete, Folder: s.descriptor(at.folder), Name: at.name, Sync: s.options.Sync != SyncNone}
	err = s.engine.Do(&j)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		s.index.remove(name)
	}
	return failed("delete", name, err)
}
