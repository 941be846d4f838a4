// Command plain is a file service as one writes it first: net/http, a goroutine for each
// request, files written beside their place and renamed. It is what the benchmark compares
// with, and no example to follow: names are not checked.
package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "plain:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 2 {
		return errors.New("usage: plain HOST:PORT DIR")
	}
	l, err := net.Listen("tcp", args[0])
	if err != nil {
		return err
	}
	return http.Serve(l, service(args[1]))
}

// service keeps files below a folder.
type service string

func (s service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := filepath.Join(string(s), filepath.FromSlash(strings.TrimPrefix(r.URL.Path, "/files/")))
	switch r.Method {
	case http.MethodPut:
		if err := put(name, r.Body); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	case http.MethodGet, http.MethodHead:
		http.ServeFile(w, r, name)
	default:
		http.Error(w, "PUT and GET", http.StatusMethodNotAllowed)
	}
}

func put(name string, body io.Reader) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(name), "~*")
	if err != nil {
		return err
	}
	_, err = io.Copy(file, body)
	if e := file.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(file.Name(), name)
	}
	if err != nil {
		_ = os.Remove(file.Name())
	}
	return err
}
