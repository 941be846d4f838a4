package client_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"muster/regress"
	"muster/regress/internal/exec/reapi/client"
	"muster/test/kits/reapitest"
)

// waiting sleeps by the clock of a synctest.
func waiting(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
	return ctx.Err()
}

// What takes a connection and says nothing, or nothing to a request, is known within ten
// seconds, or within the time that was given.
func TestSilentAtTheBeginning(t *testing.T) {
	mute := func(context.Context, string) (net.Conn, error) {
		here, there := net.Pipe()
		go func() { _, _ = io.Copy(io.Discard, there) }() // ends when here is closed
		return here, nil
	}
	for _, c := range []struct {
		connects   bool
		wait, want time.Duration
	}{{true, 0, 10 * time.Second}, {false, 0, 10 * time.Second}, {true, time.Second, 10 * time.Second}, {true, 25 * time.Second, 25 * time.Second}} {
		synctest.Test(t, func(t *testing.T) {
			e := reapitest.New(reapitest.Options{Fault: func(ctx context.Context, c reapitest.Call) error {
				<-ctx.Done()
				return ctx.Err()
			}})
			dial, stop := e.Memory()
			defer stop()
			if !c.connects {
				dial = mute
			}
			began := time.Now()
			_, err := client.Dial(t.Context(), client.Options{URL: "grpc://localhost:1", Dialer: dial, Sleep: waiting, Wait: c.wait})
			if took := time.Since(began); took != c.want || err == nil || !strings.Contains(err.Error(), "; nothing was answered: ") || !client.Unreachable(err) {
				t.Errorf("%+v: after %v: %v", c, took, err)
			}
		})
	}
}

// An engine that is away is waited for as long as it was asked, once: what comes after fails
// at its first attempt, until something succeeds.
func TestAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var away atomic.Bool
		var notes []string
		r := newRig(t, reapitest.Options{Fault: func(context.Context, reapitest.Call) error {
			if away.Load() {
				return status.Error(codes.Unavailable, "maintenance")
			}
			return nil
		}}, client.Options{Wait: 90 * time.Second, Sleep: waiting, Note: func(text string) { notes = append(notes, text) }})
		result := func() (time.Duration, error) {
			began := time.Now()
			_, _, err := r.Result(t.Context(), client.Execution{Action: noise(5).Digest})
			return time.Since(began), err
		}
		away.Store(true)
		if took, err := result(); took != 90*time.Second || err == nil || !strings.Contains(err.Error(), "attempts in 1m30s): Unavailable: maintenance; is it running") {
			t.Errorf("after %v: %v", took, err)
		}
		if took, err := result(); took != 0 || err == nil || !strings.Contains(err.Error(), "is still away") {
			t.Errorf("after %v: %v", took, err)
		}
		away.Store(false)
		_, err := result()
		r.must(err)
		away.Store(true)
		if took, err := result(); took != 90*time.Second || err == nil {
			t.Errorf("away again, after %v: %v", took, err)
		}
		if len(notes) != 3 || !strings.Contains(notes[0], " is away (Unavailable: maintenance): waiting for it, 1m2") || !strings.HasSuffix(notes[1], " is back") {
			t.Errorf("notes %q", notes)
		}
	})
}

// What mostly does not pass is tried a few times, and nothing is said of how long that took
// where it was tried once.
func TestDoubtful(t *testing.T) {
	for _, code := range []codes.Code{codes.Internal, codes.Unknown} {
		r := newRig(t, reapitest.Options{Fault: on("GetActionResult", reapitest.Begin, code, 1, 2, 4, 5, 6)}, client.Options{})
		x := client.Execution{Action: noise(5).Digest}
		_, _, err := r.Result(t.Context(), x)
		r.must(err)
		if _, _, err = r.Result(t.Context(), x); err == nil || r.engine.Calls("GetActionResult") != 6 || !regexp.MustCompile(`\(3 attempts in [0-9.]+m?s\): `+code.String()).MatchString(err.Error()) {
			t.Errorf("%d requests: %v", r.engine.Calls("GetActionResult"), err)
		}
	}
}

// An engine that repeats a secret is not quoted with it.
func TestSecretsAreNotSaid(t *testing.T) {
	r := newRig(t, reapitest.Options{Fault: func(_ context.Context, c reapitest.Call) error {
		if c.Method == "GetActionResult" {
			return status.Error(codes.PermissionDenied, "s3cr3t-t0ken with h34der: no")
		}
		return nil
	}}, client.Options{Token: "s3cr3t-t0ken", Headers: []client.Header{{Name: "x-key", Value: "h34der"}}})
	_, _, err := r.Result(t.Context(), client.Execution{Action: noise(5).Digest})
	if err == nil || !strings.Contains(err.Error(), "PermissionDenied: *** with ***: no; ") {
		t.Error(err)
	}
}

// Attempts are further and further apart, up to a limit, and as far as the engine asks.
func TestBackoff(t *testing.T) {
	asked, _ := status.New(codes.Unavailable, "later").WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(20 * time.Second)})
	fails := on("GetActionResult", reapitest.Begin, codes.Aborted, 1, 2, 3, 4, 5, 6)
	r := newRig(t, reapitest.Options{Fault: func(ctx context.Context, c reapitest.Call) error {
		if c.Method == "GetActionResult" && c.Number == 7 {
			return asked.Err()
		}
		return fails(ctx, c)
	}}, client.Options{Backoff: 100 * time.Millisecond, BackoffMax: time.Second})
	_, _, err := r.Result(t.Context(), client.Execution{Action: noise(5).Digest})
	r.must(err)
	for i, most := range []time.Duration{100, 200, 400, 800, 1000, 1000} {
		if d := r.slept[i]; d < most*time.Millisecond/2 || d > most*time.Millisecond {
			t.Errorf("wait %d: %v", i, d)
		}
	}
	if r.slept[6] != 20*time.Second {
		t.Errorf("the engine asked for 20 s, and it was %v", r.slept[6])
	}
}

// With clocks that stand still but when all wait: an execution of which nothing is heard is
// asked for by its name, again and again, however long it takes; and no longer than allowed.
func TestSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ran atomic.Int32
		free := make(chan struct{})
		r := newRig(t, reapitest.Options{Run: counted(&ran, free)}, client.Options{Silence: time.Minute, ExecutionTimeout: time.Hour, Attempts: 3})
		x := client.Execution{Action: r.action("cc")}
		done := make(chan error)
		go func() {
			_, err := r.Execute(t.Context(), x)
			done <- err
		}()
		<-time.After(30*time.Minute + time.Second)
		synctest.Wait()
		if n := r.engine.Calls("WaitExecution"); n != 30 {
			t.Errorf("asked %d times in 30 minutes", n)
		}
		close(free)
		r.must(<-done)

		free = make(chan struct{})
		r2 := newRig(t, reapitest.Options{Run: counted(&ran, free), Silent: true}, client.Options{ExecutionTimeout: time.Hour})
		began := time.Now()
		_, err := r2.Execute(t.Context(), client.Execution{Action: r2.action("cc")})
		if took := time.Since(began); regress.ClassOf(err) != regress.Environment || !strings.Contains(err.Error(), "no result within 1h00m") || took != time.Hour {
			t.Errorf("after %v: %v", took, err)
		}
	})
}

// shortStream ends with ctx.
type shortStream struct {
	grpc.ServerStream
	ctx context.Context
}

func (s shortStream) Context() context.Context { return s.ctx }

// A proxy that resets every stream after some seconds does not end an execution that takes longer than many of them.
func TestExecutionOverManyStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ran atomic.Int32
		free := make(chan struct{})
		proxy := grpc.ChainStreamInterceptor(func(srv any, s grpc.ServerStream, _ *grpc.StreamServerInfo, handle grpc.StreamHandler) error {
			ctx, cancel := context.WithTimeout(s.Context(), 6*time.Second)
			defer cancel()
			if err := handle(srv, shortStream{s, ctx}); ctx.Err() == nil {
				return err
			}
			return status.Error(codes.Internal, "stream terminated by RST_STREAM with error code: INTERNAL_ERROR")
		})
		r := newRig(t, reapitest.Options{Run: counted(&ran, free), Server: []grpc.ServerOption{proxy}}, client.Options{Sleep: waiting})
		x := client.Execution{Action: r.action("cc")}
		time.AfterFunc(65*time.Second, func() { close(free) })
		response, err := r.Execute(t.Context(), x)
		r.must(err)
		if w := r.engine.Calls("WaitExecution"); response.Result.ExitCode != 7 || ran.Load() != 1 || w != 10 {
			t.Errorf("ran %d times, asked for again %d times: %v", ran.Load(), w, response)
		}
	})
}

// A stream of contents that does not move is cut, and so is a request.
func TestStalled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stall := func(ctx context.Context, c reapitest.Call) error {
			if c.Number == 1 && (c.Method == "Write" && c.Message == 2 || c.Method == "Read" && c.Message == 2 || c.Method == "FindMissingBlobs") {
				<-ctx.Done()
				return ctx.Err()
			}
			return nil
		}
		r := newRig(t, reapitest.Options{Fault: stall}, client.Options{Deadline: time.Minute})
		b := noise(2 << 20)
		began := time.Now()
		r.upload(b)
		stream, err := r.Open(t.Context(), b.Digest)
		r.must(err)
		var got bytes.Buffer
		_, err = got.ReadFrom(stream)
		r.must(err)
		if took := time.Since(began); took != 3*time.Minute || !bytes.Equal(got.Bytes(), b.Bytes) {
			t.Errorf("took %v", took)
		}
	})
}
