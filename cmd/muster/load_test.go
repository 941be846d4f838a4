package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"muster/fileio"
	"muster/fileio/direct"
	"muster/files"
	"muster/test/kits/enginetest"
)

func TestLoad(t *testing.T) {
	s := enginetest.Open(t, &direct.Engine{}, t.TempDir(), fileio.Options{Sync: fileio.SyncNone})
	server := httptest.NewServer(files.NewServer(s, files.Options{Tokens: []string{"secret"}}))
	defer server.Close()
	t.Setenv("MUSTER_TOKEN", "secret")
	page := filepath.Join(t.TempDir(), "load.html")
	for _, c := range []struct {
		args   string
		status int
		said   string
	}{
		{"upload 4 50 5K", 0, "upload: 50 requests of 5 KiB, 4 connections, http\nsuccesses   50\nfailures    0\ncost "},
		{"download 4 50 5K --html " + page, 0, "download: 50 requests of 5 KiB"},
		{"download 4 60 5K", 1, "\nsuccesses   50\nfailures    10\n            10: 404 Not Found"},
		{"download 4 50 4K", 1, "50: the received bytes differ from the uploaded ones"},
		{"exist 4 50 --rate 1000", 0, "exist: 50 requests, 4 connections, http, 1000 requests due each second"},
		{"download 4 1 5K --duration 50ms", 0, "download: requests for 50ms, 1 file of 5 KiB, 4 connections, http\nsuccesses   "},
		{"bench 4 --duration 50ms", 0, "bench: requests for 50ms, 4 connections, http\n"},
		{"delete 4 10", 0, "successes   10\n"},
		{"clean", 0, "clean: files below load/, 16 connections, http\nsuccesses   40\n"},
		{"clean 3 7", 0, "successes   0\nfailures    0\n"},
	} {
		var stdout, stderr bytes.Buffer
		args := append([]string{"load"}, append(strings.Fields(c.args), "--addr", strings.TrimPrefix(server.URL, "http://"))...)
		status := exitStatus(run(t.Context(), args, nil, &stdout, &stderr), &stderr)
		if status != c.status || !strings.Contains(stdout.String(), c.said) || stderr.Len() > 0 {
			t.Errorf("%s: status %d, said %q and on standard error %q; want %d and %q", c.args, status, &stdout, &stderr, c.status, c.said)
		}
	}
	if text, err := os.ReadFile(page); err != nil || !bytes.Contains(text, []byte("muster load download")) {
		t.Errorf("the page: %v", err)
	}
}

func TestLoadInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		cancel()
		<-release
	}))
	defer server.Close()
	defer close(release)
	var stdout, stderr bytes.Buffer
	err := run(ctx, []string{"load", "exist", "2", "100", "--addr", server.URL, "--format", "json"}, nil, &stdout, &stderr)
	var line struct {
		Interrupted bool
		Succeeded   int
	}
	if status := exitStatus(err, &stderr); status != 130 || stderr.String() != "muster: interrupted\n" || !errors.Is(err, context.Canceled) {
		t.Errorf("status %d, said %q", status, &stderr)
	}
	if err := json.Unmarshal(stdout.Bytes(), &line); err != nil || !line.Interrupted || line.Succeeded != 0 {
		t.Errorf("%v in %q", err, &stdout)
	}
}
