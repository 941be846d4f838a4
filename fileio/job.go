package fileio

import "time"

// A Job is one operation on a whole file, or on a piece of a large one. Its Op determines
// which fields it reads and which it sets.
type Job struct {
	Op Op

	Folder int    // descriptor of the folder of Name and Temp
	Name   string // the public name of the file; one path component
	Temp   string // the temporary name of a file that is being written

	File   int    // descriptor of an open file
	Data   []byte // to write, or to fill
	Offset int64  // in the file
	Sync   bool   // the result survives a power failure

	N     int      // result: bytes read
	Info  Entry    // result
	Names []string // result of OpList
}

// Op is the operation of a job.
type Op uint8

const (
	_ Op = iota

	// OpPut writes Data to a new file Temp and renames it to Name. With Sync it flushes the
	// file before and the folder after the rename. On failure it removes Temp. It sets Info of
	// the file that it wrote, even if Name refers to another file by then.
	OpPut
	// OpStage writes Data to a new file Temp and sets Info. On failure it removes Temp.
	OpStage
	// OpCreate creates an empty file Temp and sets File, which stays open.
	OpCreate
	// OpWrite writes all of Data at Offset of File.
	OpWrite
	// OpSeal sets Info and closes File. With Sync it flushes the file before.
	OpSeal
	// OpCommit renames Temp to Name. With Sync it flushes the folder afterwards.
	OpCommit
	// OpDiscard removes Temp.
	OpDiscard
	// OpGet opens Name, reads its beginning into Data, and sets Info and N. If the file is
	// larger than Data it stays open and OpGet sets File. Otherwise File is -1.
	OpGet
	// OpRead fills Data from Offset of File. It sets N, which is less than the length of Data
	// at the file's end.
	OpRead
	// OpClose closes File.
	OpClose
	// OpStat sets Info of Name.
	OpStat
	// OpDelete removes Name. With Sync it flushes the folder afterwards.
	OpDelete
	// OpList sets Names to all names in Folder.
	OpList
	// OpSync flushes everything that was written before to the file system of Folder.
	OpSync
)

// Light reports whether an operation is on names only. Such jobs do not wait behind jobs that
// transfer data.
func (o Op) Light() bool {
	switch o {
	case OpStat, OpDelete, OpCommit, OpDiscard, OpClose:
		return true
	}
	return false
}

// An Entry holds the system's data on a file.
type Entry struct {
	Size    int64
	Changed time.Time
	Inode   uint64
}
