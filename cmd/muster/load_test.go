package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
)

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
