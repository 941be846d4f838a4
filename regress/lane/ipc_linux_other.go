//go:build linux && !amd64 && !arm64

package lane

// ipc is nothing where the calls have other numbers, or one for all.
type ipc struct{}

func (*ipc) begin(bool) {}
func (*ipc) left() bool { return false }
