//go:build (amd64 || arm64) && !purego

package observe

import (
	"bytes"
	"strconv"
	"strings"
	"syscall"
)

// address is the address of a connect(2). At most one field is set.
type address struct {
	path   string // of a socket in the file system, as the process spelled it
	shared string // for people: a place in the network, or in its list of names
}

// parseAddress reads a struct sockaddr. Addresses of the kernel are empty.
func parseAddress(b []byte) address {
	if len(b) < 2 {
		return address{}
	}
	switch int(b[0]) | int(b[1])<<8 {
	case syscall.AF_UNIX:
		name := b[2:]
		if len(name) > 1 && name[0] == 0 {
			return address{shared: "socket @" + strings.ToValidUTF8(string(name[1:]), "?")}
		}
		text, _, _ := bytes.Cut(name, []byte{0})
		return address{path: string(text)}
	case syscall.AF_INET, syscall.AF_INET6:
		if len(b) >= 4 {
			return address{shared: "an internet address, port " + strconv.Itoa(int(b[2])<<8|int(b[3]))}
		}
	}
	return address{}
}
