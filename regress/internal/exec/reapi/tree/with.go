package tree

import (
	"fmt"
	"strings"

	"muster/regress/internal/exec/reapi/blob"
)

// With returns the folder with a file added or replaced. It also returns the new messages:
// those on the file's path.
func (f *Folder) With(path string, file File) (*Folder, []blob.Blob, error) {
	if err := checkSent(path); err != nil {
		return nil, nil, err
	}
	var made []blob.Blob
	now, err := f.with(path, file, &made)
	return now, made, err
}

func (f *Folder) with(path string, file File, made *[]blob.Blob) (*Folder, error) {
	first, rest, below := strings.Cut(path, "/")
	put := entry{kind: aFile, name: first, file: file}
	had := f.find(first)
	if below {
		put = entry{kind: aFolder, name: first}
		sub := emptyFolder()
		if had != nil && had.kind == aFolder {
			sub = had.sub
		}
		var err error
		if put.sub, err = sub.with(rest, file, made); err != nil {
			return nil, err
		}
	}
	if had != nil && had.kind != put.kind {
		return nil, fmt.Errorf("%s is already there, and not as %s", first, put.kind)
	}
	now, err := f.put(put)
	if err == nil {
		*made = append(*made, now.blob())
	}
	return now, err
}

func emptyFolder() *Folder { return &Folder{digest: blob.Of(nil).Digest} }

// put returns the folder with an entry added, or replaced if it has the same kind and name. It
// copies the bytes of the others.
func (f *Folder) put(e entry) (*Folder, error) {
	text, err := e.encode()
	if err != nil {
		return nil, err
	}
	at, replaces := f.search(e.kind, e.name)
	from, rest := f.begin(at), f.begin(at)
	after := f.entries[at:]
	if replaces {
		rest, after = f.entries[at].end, after[1:]
	}
	now := &Folder{
		message: make([]byte, 0, len(f.message)+len(text)-(rest-from)),
		entries: make([]entry, 0, len(f.entries)+1),
	}
	now.message = append(append(append(now.message, f.message[:from]...), text...), f.message[rest:]...)
	e.end = from + len(text)
	now.entries = append(append(append(now.entries, f.entries[:at]...), e), after...)
	for i := at + 1; i < len(now.entries); i++ {
		now.entries[i].end += e.end - rest
	}
	now.digest = blob.Of(now.message).Digest
	return now, nil
}
