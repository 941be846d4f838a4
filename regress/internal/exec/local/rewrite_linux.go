package local

import (
	"bytes"
	"errors"
	"io"
	"os"
)

// toCanonical replaces a plain lane's own path by the canonical one.
func (w *worker) toCanonical(b []byte) []byte {
	if !w.plain || !bytes.Contains(b, []byte(w.root)) {
		return b
	}
	return bytes.ReplaceAll(b, []byte(w.root), []byte(Canonical))
}

// rewriteFile replaces every occurrence of old in a file, with bounded memory.
func rewriteFile(path, old, now string) (err error) {
	in, err := os.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(path + ".new")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = out.Close() // perhaps it is closed already, and that failed
			err = errors.Join(err, os.Remove(out.Name()))
		}
	}()
	if err := rewrite(out, in, []byte(old), []byte(now), make([]byte, 256<<10)); err != nil {
		return err
	}
	if err := out.Close(); err != nil {
		return err
	}
	return os.Rename(out.Name(), path)
}

// rewrite copies in to out with every occurrence of old replaced. The buffer
// must be longer than old.
func rewrite(out io.Writer, in io.Reader, old, now, buf []byte) error {
	have := 0
	for {
		n, err := in.Read(buf[have:])
		have += n
		if err != nil && err != io.EOF {
			return err
		}
		rest, last := buf[:have], err == io.EOF
		for {
			i := bytes.Index(rest, old)
			if i < 0 {
				break
			}
			if _, err := out.Write(rest[:i]); err != nil {
				return err
			}
			if _, err := out.Write(now); err != nil {
				return err
			}
			rest = rest[i+len(old):]
		}
		keep := 0
		if !last {
			keep = min(len(rest), len(old)-1) // an occurrence may begin in one read and end in the next
		}
		if _, err := out.Write(rest[:len(rest)-keep]); err != nil {
			return err
		}
		if last {
			return nil
		}
		have = copy(buf, rest[len(rest)-keep:])
	}
}
