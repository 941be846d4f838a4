package lane

// ReadNow reads data that is in memory, or in a pipe that does not block. ReadNow and SendNow
// are for the parent's end of the link. They are system calls that end at once, so they bypass
// the runtime. On a busy machine it would start threads for them, and move work between
// threads.
func ReadNow(fd int, b []byte) (int, error) { return read(fd, b) }
