package tree

import "errors"

// FilesMax is how many files one action may leave, as in a lane: more are taken as
// reaching the output limit.
const FilesMax = 100_000

// ErrTooMany says that an action left more than that, or a path longer than Linux takes.
var ErrTooMany = errors.New("too many files")

// foldersMax is how much of folders is read for one action, in bytes: what so many files
// need, with names as long as they can be, and as much of what was given. Each message
// counts as a few bytes more.
const (
	foldersMax    = 96 << 20
	aroundMessage = 64
)

// pass counts entries that are as they were given.
func (c *comparison) pass(unchanged []bool) {
	for _, is := range unchanged {
		if is {
			c.entries++
		}
	}
}

// enters counts an entry, of which there may be so many, also when a small tree names the
// same folder again and again.
func (c *comparison) enters(at string) bool {
	if c.err != nil {
		return false
	}
	if c.entries++; c.entries > FilesMax || len(at) >= pathBytesMax {
		c.fail(ErrTooMany)
		return false
	}
	if err := checkPath(at); err != nil {
		c.fail(err)
		return false
	}
	return true
}

// reads counts the bytes of a message, of which a small tree may name a large one again and
// again.
func (c *comparison) reads(size int64) bool {
	if c.room -= aroundMessage; size > c.room {
		c.fail(ErrTooMany)
	}
	c.room -= size
	if c.ctx.Err() != nil {
		c.fail(c.ctx.Err())
	}
	return c.err == nil
}
