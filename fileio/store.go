package fileio

import (
	"cmp"
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
	"sync"
	"sync/atomic"
	"time"

	"github.com/tidwall/btree"
	"golang.org/x/sys/unix"

	"muster/fileio/internal/ledger"
	"muster/internal/fair"
	"muster/internal/filelock"
	"muster/internal/pages"
	"muster/pool"
)

// Sync determines when a written file survives a power failure.
type Sync int

const (
	// SyncGroup: when Put returns. Files that are written at the same time share one flush of
	// their file system. Systems without such a flush, like macOS, use SyncEach.
	SyncGroup Sync = iota
	// SyncEach: when Put returns. Put flushes each file and its folder separately.
	SyncEach
	// SyncNone: when the system flushes it, after about half a minute. Killing the process
	// harms no file.
	SyncNone
)

// Options of a store. The zero value suits most stores.
type Options struct {
	Sync Sync

	// MemoryMax is how many bytes of files may be in memory at the same time; 0 = 128 MiB. One
	// half is for files on their way to the disk, the other for files on their way from it.
	// When a half is used up, Put reads at most one byte and Get does not return until memory
	// is free.
	MemoryMax int64

	// WaitingMax is how many operations of each kind may wait for the engine; 0 = 1,024. The
	// kinds are transfers and operations on names. Further operations are refused with
	// [ErrBusy]. A client may have as many of these places as it leaves to others.
	WaitingMax int

	// WaitMax is how long an operation may wait for the engine or for memory until it is
	// refused with ErrBusy; 0 = no limit. Operations are not refused once Put writes its file
	// or Get has returned one.
	WaitMax time.Duration

	// Capacity is how many bytes the files may take, each in whole blocks of 4 KiB; 0 = no limit.
	// A Put that needs room deletes files whose names begin with a prefix in Evict, first those
	// that were not used for longest: Put, Get, Stat and a Put with a condition use a file. If
	// that does not suffice, the error is an ENOSPC. A restart knows the uses within an hour.
	Capacity int64
	Evict    []string

	// JobsOnly disables reading cached files without a job. For comparing engines.
	JobsOnly bool
}

const (
	memoryDefault  = 128 << 20
	waitingDefault = 1024
)

// MemoryMin is the smallest MemoryMax.
const MemoryMin = 4 * chunkSize

// A Store keeps files under names in a folder. It locks the folder, so that no other process
// writes to it. Any number of goroutines may call its methods at the same time, except Close.
//
// A reader sees the whole old file even if a Put replaces it meanwhile. Errors about a name
// are *fs.PathError with that name and the system's reason, such as fs.ErrNotExist. If the
// engine has too much to do, the error is [ErrBusy].
type Store struct {
	engine  Engine
	options Options

	lock    *os.File
	folders [folders]*os.File

	transfers, light *fair.Budget // turns at the engine
	reads, writes    *pages.Memory

	cache  cache
	names  *nameLocks
	doors  *nameLocks            // see enterName
	index  *btree.BTreeG[string] // of the files' names; see newIndex
	ledger *ledger.Ledger        // nil = no Capacity
	temps  atomic.Uint64
	run    string // distinguishes this process's temporary files from others

	checking chan struct{} // holds an element while Check runs

	group *committer // nil = files are not flushed together
}

// Further names in the folder.
const (
	formatName = "format"
	formatTemp = "format~" // the format file until it is renamed
	formatText = "muster files 1\n"
	lockName   = "lock"
)

// Open opens the folder, which it creates if necessary, and removes what an interrupted
// process left in it. A file in the folder records its format. Every later version can open
// it.
func Open(folder string, engine Engine, o Options) (*Store, error) {
	o.MemoryMax = cmp.Or(o.MemoryMax, memoryDefault)
	if o.MemoryMax < MemoryMin {
		return nil, fmt.Errorf("memory of %d bytes is too small: use at least %d", o.MemoryMax, MemoryMin)
	}
	o.WaitingMax = cmp.Or(o.WaitingMax, waitingDefault)
	if o.WaitingMax < 1 {
		return nil, fmt.Errorf("%d waiting operations are not possible: use 1 or more", o.WaitingMax)
	}
	s := &Store{
		engine: engine, options: o, names: newNameLocks(openMax()), doors: newNameLocks(0),
		reads: pages.New(o.MemoryMax/2, o.WaitMax), writes: pages.New(o.MemoryMax/2, o.WaitMax),
		checking: make(chan struct{}, 1), index: newIndex(),
		run: strconv.FormatUint(rand.Uint64(), 36),
	}
	room := engine.Room()
	s.transfers = newTurns(room.Transfers, o)
	s.light = s.transfers
	if room.Light > 0 {
		s.light = newTurns(room.Light, o)
	}
	err := s.openFolder(folder)
	if err == nil && o.Capacity > 0 {
		s.ledger = ledger.New(ledger.Options{Capacity: o.Capacity, Evict: o.Evict, Touch: func(name string) {
			at := placeOf(name)
			touch(s.descriptor(at.folder), at.name)
		}})
	}
	if err == nil {
		err = s.scanFolders()
	}
	if err != nil {
		s.ledger.Close()
		return nil, errors.Join(err, s.closeFolders())
	}
	s.cache.probe(s.descriptor(0))
	if o.Sync == SyncGroup && !flushesAll(s.descriptor(0)) {
		s.options.Sync = SyncEach // gives the same guarantee
	}
	if s.options.Sync == SyncGroup {
		s.group = newCommitter(s)
	}
	return s, nil
}

// newTurns returns a budget of the engine's room for one kind of jobs.
func newTurns(room int, o Options) *fair.Budget {
	return fair.New(fair.Options{Size: int64(room), WaitingMax: o.WaitingMax, WaitMax: o.WaitMax})
}

// execute has the engine execute a job when it is the client's turn. If the job did not begin,
// execute returns [ErrBusy] or the context's error.
func (s *Store) execute(ctx context.Context, j *Job) error {
	leave, err := s.enter(ctx, j.Op, (*fair.Budget).Take)
	if err != nil {
		return err
	}
	defer leave()
	return s.engine.Do(j)
}

// executeLate is like execute, for a piece of a transfer that has begun. It never returns
// ErrBusy.
func (s *Store) executeLate(ctx context.Context, j *Job) error {
	leave, err := s.enter(ctx, j.Op, (*fair.Budget).TakeLate)
	if err != nil {
		return err
	}
	defer leave()
	return s.engine.Do(j)
}

// enterName waits for the client's turn and then locks a name, exclusively or shared. A
// request that holds the lock must not wait for a turn, because the committer waits for that
// lock. A request that has a turn must not wait long for the lock, because others want the
// turn. So requests for one name queue at its door lock first.
func (s *Store) enterName(ctx context.Context, op Op, name string, exclusive bool, take turn) (leave func(), err error) {
	leaveDoor := s.doors.lock(name, exclusive)
	leaveTurn, err := s.enter(ctx, op, take)
	if err != nil {
		leaveDoor()
		return nil, err
	}
	unlock := s.names.lock(name, exclusive)
	return func() { unlock(); leaveTurn(); leaveDoor() }, nil
}

// turn is how an operation waits for its turn: Take or TakeLate of a budget.
type turn func(*fair.Budget, context.Context, fair.Client) error

// enter waits for the client's turn.
func (s *Store) enter(ctx context.Context, op Op, take turn) (leave func(), err error) {
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
	for _, m := range []*pages.Memory{s.reads, s.writes} {
		all.Refused += m.Refused()
		all.Memory += m.Held()
	}
	kept := s.ledger.Stats()
	all.Kept, all.Evicted, all.EvictedBytes = kept.Held, kept.Evicted, kept.EvictedBytes
	return all
}

func (s *Store) openFolder(folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	format := filepath.Join(folder, formatName)
	if _, err := os.Lstat(format); errors.Is(err, fs.ErrNotExist) {
		// Check before writing anything: another program's folder may have a file named lock.
		if err := mustBeEmpty(folder); err != nil {
			return err
		}
	}
	if err := s.takeLock(filepath.Join(folder, lockName)); err != nil {
		return err
	}
	text, err := readFormat(format)
	switch {
	case errors.Is(err, fs.ErrNotExist): // the lock is ours, so writeFormat creates it
	case err != nil:
		return err
	case string(text) != formatText:
		return fmt.Errorf("%s contains %q, and this program knows %q: a later version wrote the folder", format, strings.TrimSpace(string(text)), strings.TrimSpace(formatText))
	}
	for i := range s.folders {
		name := filepath.Join(folder, fmt.Sprintf("%02x", i))
		if err := os.Mkdir(name, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		// Never follow a planted link.
		if s.folders[i], err = os.OpenFile(name, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0); err != nil {
			return err
		}
	}
	if text != nil {
		return nil
	}
	if err := syncParents(folder); err != nil {
		return err
	}
	return writeFormat(folder, format)
}

// mustBeEmpty refuses a folder that has content of others.
func mustBeEmpty(folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if n, err := strconv.ParseUint(e.Name(), 16, 8); err == nil && fmt.Sprintf("%02x", n) == e.Name() {
			continue // left by an interrupted first start
		}
		if e.Name() != lockName && e.Name() != formatTemp {
			return fmt.Errorf("%s contains %s and is not a store of files: name an empty folder, or one that does not exist", folder, e.Name())
		}
	}
	return nil
}

// readFormat reads as much of the format file as can be shown. It neither follows a planted
// link nor blocks on a planted pipe.
func readFormat(name string) ([]byte, error) {
	file, err := os.OpenFile(name, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, int64(2*len(formatText))))
}

// writeFormat is the last step of making a folder a store. Its flush keeps all subfolders too.
func writeFormat(folder, name string) error {
	temp := filepath.Join(folder, formatTemp)
	file, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|unix.O_NOFOLLOW, 0o644)
	if err != nil {
		return err
	}
	// Flush the bytes before the rename: otherwise a power failure might leave an empty file.
	_, err = file.WriteString(formatText)
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	if err := os.Rename(temp, name); err != nil {
		return err
	}
	return syncFolder(folder)
}

// syncParents flushes the folders above one that may be new: a power failure that takes its name
// takes all its files.
func syncParents(folder string) error {
	path, err := filepath.Abs(folder)
	for err == nil && path != filepath.Dir(path) {
		path = filepath.Dir(path)
		if err = syncFolder(path); errors.Is(err, fs.ErrPermission) || errors.Is(err, unix.EINVAL) || errors.Is(err, unix.EROFS) {
			err = nil // not ours to flush, or nothing to flush there
		}
	}
	return err
}

func syncFolder(name string) error {
	folder, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
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

// tempPrefix begins the names of temporary files and of no others.
const tempPrefix = "~"

// scanFolders removes unfinished files of an interrupted process and adds the names of all
// files to the index.
func (s *Store) scanFolders() error {
	var mu sync.Mutex
	var found []ledger.Found
	err := pool.ForEach(context.Background(), folderWorkers, s.folders[:], func(_ context.Context, f *os.File) error {
		folder := int(f.Fd())
		j := Job{Op: OpList, Folder: folder}
		if err := s.engine.Do(&j); err != nil {
			return err
		}
		var names []string
		for _, encoded := range j.Names {
			if name, ok := decode(encoded); ok { // otherwise it is not a file of the store
				names = append(names, name)
				if s.ledger != nil {
					if one, ok := findFile(folder, encoded, name); ok {
						mu.Lock()
						found = append(found, one)
						mu.Unlock()
					}
				}
			}
			if !strings.HasPrefix(encoded, tempPrefix) {
				continue
			}
			j := Job{Op: OpDiscard, Folder: folder, Temp: encoded}
			if err := s.engine.Do(&j); err != nil {
				return err
			}
		}
		for _, name := range names {
			s.index.Set(name)
		}
		return nil
	})
	if err != nil || s.ledger == nil {
		return err
	}
	victims, err := s.ledger.Fill(found)
	if err != nil {
		return err
	}
	return evict(context.Background(), s, victims)
}

// folderWorkers is how many folders are scanned at the same time.
const folderWorkers = 8

func (s *Store) descriptor(folder int) int { return int(s.folders[folder].Fd()) }

// newTempName returns a name for a new temporary file.
func (s *Store) newTempName() string {
	return tempPrefix + s.run + "-" + strconv.FormatUint(s.temps.Add(1), 36)
}

// Close waits for writes in progress and unlocks the folder. No method may be called during or
// after Close. The caller still has to close the engine.
func (s *Store) Close() error {
	s.checking <- struct{}{} // a running Check may still use the folders
	if s.group != nil {
		s.group.close()
	}
	s.ledger.Close()
	s.names.closeOpened()
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

// operationError returns the error of an operation on a file.
func operationError(op, name string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrBusy), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), errors.Is(err, ErrChanged):
		return err
	}
	return &fs.PathError{Op: op, Path: name, Err: err}
}

// Stat describes a file.
func (s *Store) Stat(ctx context.Context, name string) (Info, error) {
	if err := CheckName(name); err != nil {
		return Info{}, err
	}
	e, err := useInTurn(ctx, s, name)
	return infoOf(name, e), operationError("stat", name, err)
}

// useInTurn is like statInTurn, and uses the file. A file that gives way does not exist any
// more, although it is still to be deleted: nobody may count on it.
func useInTurn(ctx context.Context, s *Store, name string) (Entry, error) {
	if !s.ledger.Use(name) {
		return Entry{}, unix.ENOENT
	}
	return s.statInTurn(ctx, placeOf(name))
}

// statInTurn is like stat, but waits for the client's turn.
func (s *Store) statInTurn(ctx context.Context, at place) (Entry, error) {
	j := Job{Op: OpStat, Folder: s.descriptor(at.folder), Name: at.name}
	err := s.execute(ctx, &j)
	return j.Info, err
}

func (s *Store) stat(at place) (Entry, error) {
	j := Job{Op: OpStat, Folder: s.descriptor(at.folder), Name: at.name}
	err := s.engine.Do(&j)
	return j.Info, err
}

// Check writes a small file and removes it, on a thread for transfers. It returns why that
// failed. If the disk hangs, Check returns when ctx ends.
func (s *Store) Check(ctx context.Context) error {
	slow := func() error { return fmt.Errorf("the disk did not answer: %w", ctx.Err()) }
	select {
	case s.checking <- struct{}{}: // one at a time: on a hanging disk none returns
	case <-ctx.Done():
		return slow()
	}
	done := make(chan error, 1)
	go func() {
		defer func() { <-s.checking }()
		j := Job{Op: OpStage, Folder: s.descriptor(0), Temp: s.newTempName(), Data: []byte("check"), Sync: true}
		err := s.execute(ctx, &j)
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

// A Condition decides whether a change is made, given the present file. nil means that no file
// exists. The store calls it last when nothing can change before the change itself. Put also
// calls it before it reads.
type Condition func(now *Info) bool

// ErrChanged is the error of a change that its condition did not allow.
var ErrChanged = errors.New("the file is not in the expected state")

// checkCondition evaluates a condition on the present file. A nil condition allows everything.
func (s *Store) checkCondition(name string, at place, want Condition) error {
	if want == nil {
		return nil
	}
	if !s.ledger.Use(name) { // as in useInTurn
		return evaluate(name, Entry{}, unix.ENOENT, want)
	}
	e, err := s.stat(at)
	return evaluate(name, e, err, want)
}

// evaluate returns ErrChanged if a condition does not allow the result of stat.
func evaluate(name string, e Entry, err error, want Condition) error {
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

// Delete removes a file if want is nil or allows it.
func (s *Store) Delete(ctx context.Context, name string, want Condition) error {
	if err := CheckName(name); err != nil {
		return err
	}
	at := placeOf(name)
	leave, err := s.enterName(ctx, OpDelete, name, true, (*fair.Budget).Take)
	if err != nil {
		return err
	}
	defer leave()
	if err := s.checkCondition(name, at, want); err != nil {
		return operationError("delete", name, err)
	}
	j := Job{Op: OpDelete, Folder: s.descriptor(at.folder), Name: at.name, Sync: s.options.Sync != SyncNone}
	err = s.engine.Do(&j)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		s.index.Delete(name)
		s.ledger.Remove(name)
	}
	return operationError("delete", name, err)
}
