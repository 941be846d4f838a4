package tree

import "errors"

// FilesMax is the largest number of files that one action may leave, as in a lane. More files
// count as reaching the output limit.
const FilesMax = 100_000

// ErrTooMany is the error for an action that left more files, or a path longer than Linux
// allows.
var ErrTooMany = errors.New("too many files")

// foldersMax bounds the bytes of folder messages that are read for one action: enough for
// FilesMax files with the longest names, and as many given ones. Each message counts as a few
// bytes more.
const (
	foldersMax    = 96 << 20
	aroundMessage = 64
)

// pass counts unchanged entries.
func (c *comparison) pass(unchanged []bool) {
	for _, is := range unchanged {
		if is {
			c.entries++
		}
	}
}

// enters counts an entry. Entries are bounded even in a small tree that names one folder many
// times.
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

// reads counts the bytes of a message. They are bounded even in a small tree that names one
// large message many times.
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
