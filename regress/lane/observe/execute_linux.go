//go:build (amd64 || arm64) && !purego

package observe

import "syscall"

// executedMax is how many files the kernel opens in turn to execute one.
const executedMax = 6

// execute adds an executed file: the file itself, if it is outside the case. Else it follows what the kernel
// opens to execute it, until that is outside. Files of the case are in memory, so nobody waits for them.
func (o *Observer) execute(pid uint32, folder int32, path string) (list []Access, err error) {
	cwd := ""
	if at, err := folderOf(pid, atCwd); err == nil && o.own.isOutside(at) {
		cwd = at
	}
	for range executedMax {
		outside, inside, err := o.locate(pid, folder, path, true)
		if err == syscall.ESTALE {
			err = errUnseen
		}
		switch {
		case err != nil:
			return list, err
		case outside != "":
			return append(list, Access{Path: outside, Kind: Executed, Folder: cwd}), nil
		}
		fd, err := syscall.Open(inside, syscall.O_RDONLY|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
		if err != nil {
			return append(list, o.own.miss(inside, Executed)...), nil // it is not there, or not executable
		}
		read := func(b []byte, at int64) int {
			n, _ := syscall.Pread(fd, b, at) // -1 is less than any number of bytes
			return n
		}
		var head [headBytes]byte
		n := read(head[:], 0)
		path, folder = Opener(read), atCwd
		_ = syscall.Close(fd) // it was only read
		if n > 0 {
			list = append(list, Access{Path: inside, Kind: Executed, Head: string(head[:n])})
		}
		if path == "" {
			return list, nil
		}
	}
	return list, nil
}
