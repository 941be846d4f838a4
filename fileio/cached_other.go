//go:build !linux

package fileio

// cache does nothing, because this system does not report what it has in memory.
type cache struct{}

func (*cache) probe(int) {}

func (*cache) open(int, string) (file int, info Entry, known bool, err error) {
	return -1, Entry{}, false, nil
}
func (*cache) read(int, []byte) int { return 0 }
func (*cache) close(int)            {}
