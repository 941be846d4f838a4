package fileio

// Calls are the system calls that a job is made of: [System] makes them, for [Job.Run], and
// an engine that has another way to ask the system has its own, for [Job.RunOn]. Each call does what the system's does, once; Read and Write may do a
// part. One that a signal has interrupted is repeated, but for Close. Errors are the
// system's. The calls of one job follow upon one another.
type Calls interface {
	Open(folder int, name string, flags int, mode uint32) (file int, err error)
	Close(file int) error
	Read(file int, data []byte, offset int64) (n int, err error)
	Write(file int, data []byte, offset int64) (n int, err error)
	Rename(folder int, from, to string) error
	Unlink(folder int, name string) error

	// Stat tells of what has a name in a folder, a link itself if it is one, or, with no
	// name, of an open file.
	Stat(at int, name string) (Status, error)

	// List returns all names in a folder, but for . and .. .
	List(folder int) ([]string, error)

	// Flush has the disk keep what was written to a file: its data, and what is needed to
	// read it again.
	Flush(file int) error
	// FlushFolder has the disk keep the names in a folder.
	FlushFolder(folder int) error
	// FlushAll does so for all of the folder's file system, and reports errors of all files
	// that were written since it was called last.
	FlushAll(folder int) error
}

// Status is what Stat tells.
type Status struct {
	Entry
	Regular bool // it is a file, and neither a folder, a link, a pipe nor a device
}
