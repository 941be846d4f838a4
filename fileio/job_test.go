package fileio_test

import (
	"os"
	"testing"

	"muster/fileio"
	"muster/test/kits/enginetest"
)

// What jobs cost without an engine, on a file of 50 KB.
func BenchmarkRun(b *testing.B) {
	dir, err := os.Open(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	defer dir.Close()
	folder, data := int(dir.Fd()), enginetest.Content(1, 50_000)
	room := make([]byte, 64<<10)
	first := fileio.Job{Op: fileio.OpPut, Folder: folder, Name: "x", Temp: "~x", Data: data}
	if err := first.Run(); err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		name string
		job  fileio.Job
	}{
		{"put", fileio.Job{Op: fileio.OpPut, Data: data}},
		{"get", fileio.Job{Op: fileio.OpGet, Data: room}},
		{"stat", fileio.Job{Op: fileio.OpStat}},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				j := c.job
				j.Folder, j.Name, j.Temp = folder, "x", "~x"
				if err := j.Run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
