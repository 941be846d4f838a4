package main

import (
	"archive/tar"
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
)

const (
	caseSize     = 1 << 10 // bytes of a source, and of what the tool makes of it
	folderCases  = 1000    // sources in a folder
	outputSuffix = ".s"
)

// sourceMark begins every source. No message of the API begins so.
var sourceMark = []byte("// source ")

func isSource(data []byte) bool { return bytes.HasPrefix(data, sourceMark) }

// writeCorpus writes an archive of small sources, all of them different. There are no headers.
func writeCorpus(path string, cases int) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	buffered := bufio.NewWriterSize(f, 1<<20)
	w := tar.NewWriter(buffered)
	for i := range cases {
		text := fmt.Appendf(nil, "%s%d\n", sourceMark, i)
		for line := 0; len(text) < caseSize; line++ {
			text = fmt.Appendf(text, "int f%d(int x) { return x * %d + %d; }\n", line, i, line)
		}
		name := fmt.Sprintf("src/%04d/c%07d.c", i/folderCases, i)
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: caseSize, Format: tar.FormatUSTAR}); err != nil {
			return err
		}
		if _, err := w.Write(text[:caseSize]); err != nil {
			return err
		}
	}
	return errors.Join(w.Close(), buffered.Flush())
}

// outputOf returns what the tool makes of a source. It looks like an assembler's listing, which
// can be compressed, and no two of them are alike.
func outputOf(source key) []byte {
	text := make([]byte, 0, caseSize+40)
	for line := uint64(0); len(text) < caseSize; line++ {
		x := (binary.LittleEndian.Uint64(source[:]) + line) * 0x9e3779b97f4a7c15
		text = append(text, "\tmovl\t$0x"...)
		for shift := 28; shift >= 0; shift -= 4 {
			text = append(text, "0123456789abcdef"[x>>(32+shift)&15])
		}
		text = append(text, ", %eax\n\taddl\t%edi, %eax\n\tret\n"...)
	}
	return text[:caseSize]
}
