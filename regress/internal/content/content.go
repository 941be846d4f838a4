// Package content opens and compares the contents of outcomes. A Side is an outcome with a function
// that opens its parts. Its input is both sides of a case and the rules of --normalize. Its output
// is whether two parts are the same, their texts after the rewrites, and the names of the parts
// that were not compared.
//
// It opens no file itself: callers pass an Opener. It knows no run, report or verdict.
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

// ReadAll reads a whole part. Do not change the bytes: they may be shared.
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

// memoryReader reads content that is already in memory. ReadAll returns it without a copy.
type memoryReader struct {
	*bytes.Reader
	whole []byte
}

func newMemoryReader(b []byte) memoryReader { return memoryReader{bytes.NewReader(b), b} }

func (memoryReader) Close() error { return nil }

// rememberedMax bounds the bytes that Remembering keeps of one outcome. Nearly all outcomes are
// smaller, and many lanes may hold outcomes at once.
const rememberedMax = 16 << 20

// Cache returns an opener that keeps up to 16 MiB of what it opened. Use it for a case that
// is read several times: for its comparison, its causes and its excerpt. Contents must not change
// meanwhile. Only one goroutine may use the opener.
func Cache(open Opener) Opener {
	type content struct {
		outcome.Key
		outcome.Digest // a flaky part has several contents
	}
	kept, room := map[content][]byte{}, int64(rememberedMax)
	return func(p outcome.Part) (io.ReadCloser, error) {
		one := content{p.Key, p.Digest}
		if b, known := kept[one]; known {
			return newMemoryReader(b), nil
		}
		if p.Size > room {
			return open(p)
		}
		b, err := ReadAll(open, p)
		if err != nil {
			return nil, err
		}
		kept[one] = b
		room -= int64(len(b))
		return newMemoryReader(b), nil
	}
}
