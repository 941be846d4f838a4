package fileio

// Calls are the system calls that make up jobs. [System] makes them, for [Job.Run]. An
// engine with another way to make them has its own Calls, for [Job.RunOn]. Each method does
// what the system call does, once. Read and Write may transfer only a part. A method except
// Close repeats a call that a signal interrupts. Errors are the system's. The calls of one job
// are sequential.
type Calls interface {
	Open(folder int, name string, flags int, mode uint32) (file int, err error)
	Close(file int) error
	Read(file int, data []byte, offset int64) (n int, err error)
	Write(file int, data []byte, offset int64) (n int, err error)
	Rename(folder int, from, to string) error
	Unlink(folder int, name string) error

	// Stat describes a name in a folder, without following a link. With an empty name it
	// describes an open file.
	Stat(at int, name string) (Status, error)

	// List returns all names in a folder, except . and .. .
	List(folder int) ([]string, error)

	// Flush makes the disk keep what was written to a file: its data, and what is needed to
	// read it.
	Flush(file int) error
	// FlushFolder makes the disk keep the names in a folder.
	FlushFolder(folder int) error
	// FlushAll makes the disk keep everything on the folder's file system. It reports errors
	// of all files that were written since the last call.
	FlushAll(folder int) error
}

// Status is the result of Stat.
type Status struct {
	Entry
	Regular bool // a file, and not a folder, a link, a pipe or a device
}
