//go:build !linux

package fileio

import "io"

// cache does nothing, because this system does not report what it has in memory.
type cache struct{}

func (*cache) probe(int) {}

func (*cache) open(int, string) (file int, info Entry, known bool, err error) {
	return -1, Entry{}, false, nil
}
func (*cache) has(int, int64, int64) bool { return false }
func (*cache) send(io.ReaderFrom, int, int64, int64, int64) (int64, error) {
	return 0, nil
}
func (*cache) read(int, []byte, int64) int { return 0 }
func (*cache) close(int)                   {}
