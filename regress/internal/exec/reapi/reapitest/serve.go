package reapitest

import (
	"net"
	"testing"
)

// ServeFolder serves an engine on which every command leaves a folder with these empty files.
// It runs until the test ends. It returns the URL.
func ServeFolder(t *testing.T, folder string, files ...string) string {
	t.Helper()
	e := New(Options{Run: Folder(folder, files...)})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	stop := e.Serve(l)
	t.Cleanup(func() {
		stop()
		e.Close()
	})
	return "grpc://" + l.Addr().String()
}
