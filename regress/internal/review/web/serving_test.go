package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"muster/regress/internal/review"
	"muster/regress/internal/review/web"
)

// A served review runs until its test ends it, or somebody in a browser does.
type served struct {
	*testing.T
	link    string
	stop    context.CancelFunc
	done    chan struct{} // closed when it has ended
	results []review.Result
	err     error
}

func serve(t *testing.T, s *store) *served {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	v := &served{T: t, stop: stop, done: make(chan struct{})}
	ready := make(chan string, 1)
	desk := s.desk()
	go func() {
		defer close(v.done)
		v.results, v.err = web.Run(ctx, desk, web.Options{Ready: func(link string) { ready <- link }})
	}()
	t.Cleanup(func() { stop(); <-v.done })
	select {
	case v.link = <-ready:
	case <-v.done:
		t.Fatal(v.err)
	}
	return v
}

// quoted puts texts into an expression, as JavaScript has them.
func quoted(format string, texts ...string) string {
	var args []any
	for _, text := range texts {
		b, _ := json.Marshal(text)
		args = append(args, string(b))
	}
	return fmt.Sprintf(format, args...)
}
