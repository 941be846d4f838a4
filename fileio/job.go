package fileio

import "time"

// A Job is one operation on a whole file, or on a piece of a large one. Which fields it
// needs and which it sets depends on what it does.
type Job struct {
	Op Op

	Folder int    // descriptor of the folder in which Name and Temp are
	Name   string // of the file as people see it; one component
	Temp   string // of the file that is written, until it is renamed

	File   int    // descriptor of a file that is open
	Data   []byte // to be written, or to be filled
	Offset int64  // in the file
	Sync   bool   // what is done outlives a power failure

	N     int      // set: bytes that were read
	Info  Entry    // set
	Names []string // set, by OpList
}

// Op is what a job does.
type Op uint8

const (
	_ Op = iota

	// OpPut writes Data to a new file Temp, and renames that to Name. With Sync the file
	// is flushed before that and the folder after it. What fails leaves no Temp. It sets
	// Info, of what it wrote and not of what has the name then.
	OpPut
	// OpStage writes Data to a new file Temp, which stays, and sets Info. What fails leaves
	// no Temp.
	OpStage
	// OpCreate makes an empty file Temp and leaves it open: it sets File.
	OpCreate
	// OpWrite writes Data at Offset of File, all of it.
	OpWrite
	// OpSeal sets Info and closes File; with Sync it is flushed before.
	OpSeal
	// OpCommit renames Temp to Name; with Sync the folder is flushed after it.
	OpCommit
	// OpDiscard removes Temp.
	OpDiscard
	// OpGet opens Name and reads from its beginning as much as there is place for in Data:
	// it sets Info and N. Where there is more it leaves the file open and sets File, else
	// File is -1.
	OpGet
	// OpRead fills Data from Offset of File, and sets N, which is less at the file's end.
	OpRead
	// OpClose closes File.
	OpClose
	// OpStat sets Info of Name.
	OpStat
	// OpDelete removes Name; with Sync the folder is flushed after it.
	OpDelete
	// OpList sets Names: of all that is in Folder.
	OpList
	// OpSync flushes all that was written to the file system of Folder before.
	OpSync
)

// Light reports whether a job is about names alone, and is not to wait behind those that
// move data.
func (o Op) Light() bool {
	switch o {
	case OpStat, OpDelete, OpCommit, OpDiscard, OpClose:
		return true
	}
	return false
}

// An Entry is what the system knows of a file.
type Entry struct {
	Size    int64
	Changed time.Time
	Inode   uint64
}
