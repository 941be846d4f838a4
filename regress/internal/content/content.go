// Package content opens and compares the contents of outcomes. A Side is an outcome with a
// function that opens its parts. In go both sides of a case and the rules of --normalize; out
// come whether two parts are the same, their texts as they were compared, and the names of the
// parts that were not compared.
//
// It opens no file itself: callers hand in an Opener. It knows no run, no report and no verdict.
package content

import (
	"bytes"
	"errors"
	"io"

	"muster/regress/internal/outcome"
)

// An Opener opens the content of a part of one outcome. The caller closes the reader. Whether
// several goroutines may call it at once depends on the store behind it.
type Opener func(outcome.Part) (io.ReadCloser, error)

// ReadAll reads a part whole. Callers must not change the bytes: others may have them too.
func ReadAll(open Opener, p outcome.Part) ([]byte, error) {
	r, err := open(p)
	if err != nil {
		return nil, err
	}
	if h, ok := r.(memoryReader); ok {
		return h.whole, nil
	}
	b, err := io.ReadAll(r)
	return b, errors.Join(err, r.Close())
}

// memoryReader reads content that is in memory already. ReadAll takes it without a copy.
type memoryReader struct {
	*bytes.Reader
	whole []byte
}

func newMemoryReader(b []byte) memoryReader { return memoryReader{bytes.NewReader(b), b} }

func (memoryReader) Close() error { return nil }

// rememberedMax bounds the bytes that Remembering keeps of one outcome. Nearly all outcomes have
// fewer, and lanes may hold much more.
const rememberedMax = 16 << 20

// Remembering returns an opener that keeps up to 16 MiB of what it opened. Use it for a case
// that is read several times: to compare it, for its causes and for its excerpt. Contents must
// not change meanwhile. Only one goroutine may use the opener.
func Remembering(open Opener) Opener {
	kept, room := map[outcome.Key][]byte{}, int64(rememberedMax)
	return func(p outcome.Part) (io.ReadCloser, error) {
		if b, known := kept[p.Key]; known {
			return newMemoryReader(b), nil
		}
		if p.Size > room {
			return open(p)
		}
		b, err := ReadAll(open, p)
		if err != nil {
			return nil, err
		}
		kept[p.Key] = b
		room -= int64(len(b))
		return newMemoryReader(b), nil
	}
}
