package lane

// ReadNow is for the parent, at its end of the link, as is SendNow: system calls that
// are over at once, so that the runtime need not be told of them. Told, it would start
// threads when the machine is busy, and hand work between them. It reads what is in
// memory, or in a pipe that does not block.
func ReadNow(fd int, b []byte) (int, error) { return read(fd, b) }
