package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"muster/regress"
	"muster/regress/check"
	"muster/regress/host"
)

func TestExitStatus(t *testing.T) {
	noGolden := func() error {
		_, err := check.Run(context.Background(), regress.Options{Store: regress.Store{Golden: t.TempDir() + "/none"}}, host.Host{})
		return err
	}
	for _, c := range []struct {
		err    error
		status int
		said   string
	}{
		{nil, 0, ""},
		{statusError(1), 1, ""},
		{fmt.Errorf("wrapped: %w", statusError(3)), 3, ""},
		{usagef("no %s", "such"), 2, "muster: no such\n"},
		{fmt.Errorf("wrapped: %w", usagef("x")), 2, "muster: wrapped: x\n"},
		{fmt.Errorf("stopped: %w", context.Canceled), 130, "muster: stopped: interrupted\n"},
		{errors.New("what nobody foresaw"), 3, "muster: what nobody foresaw\n"},
		// An error is printed once, in one line.
		{errors.Join(errors.New("20 cases failed: disk full"), nil, errors.Join(errors.New("disk full"), errors.New("disk full"))), 3, "muster: 20 cases failed: disk full\n"},
		{errors.Join(errors.New("one"), errors.New("two")), 3, "muster: one; and two\n"},
		{fmt.Errorf("%w: %w", errors.New("a"), errors.New("a")), 3, "muster: a: a\n"},
	} {
		var said bytes.Buffer
		if got := exitStatus(c.err, &said); got != c.status || said.String() != c.said {
			t.Errorf("%v: status %d, said %q; want %d, %q", c.err, got, said.String(), c.status, c.said)
		}
	}
	if got := exitStatus(noGolden(), &bytes.Buffer{}); got != 2 {
		t.Errorf("no golden: status %d", got)
	}
}

// The program can run within another one, and twice.
func TestRun(t *testing.T) {
	for range 2 {
		var stdout, stderr bytes.Buffer
		if err := run(t.Context(), []string{"help", "exit-codes"}, nil, &stdout, &stderr); err != nil || stdout.Len() == 0 || stderr.Len() > 0 {
			t.Errorf("%v, said %q and %q", err, stdout.String(), stderr.String())
		}
		err := run(t.Context(), []string{"no-such"}, nil, &stdout, &stderr)
		var usage *usageError
		if !errors.As(err, &usage) {
			t.Errorf("an unknown command is %v", err)
		}
	}
}

type environment struct{ error }

func (*environment) Class() regress.Class { return regress.Environment }

func TestErrorText(t *testing.T) {
	full := &environment{errors.New("golden g: the disk is full")}
	other := &environment{errors.New("state s: the disk is full")}
	for _, c := range []struct {
		err  error
		want string
	}{
		{errors.Join(full, full), "golden g: the disk is full"},
		{errors.Join(fmt.Errorf("case a: %w", full), fmt.Errorf("case b: %w", fmt.Errorf("stdout: %w", full))), "case a: golden g: the disk is full"},
		{errors.Join(full, other), "golden g: the disk is full; and state s: the disk is full"},
		{errors.Join(fmt.Errorf("case a: %w", io.EOF), fmt.Errorf("case b: %w", io.EOF)), "case a: EOF; and case b: EOF"},
		{errors.Join(context.Canceled, full), "interrupted; and golden g: the disk is full"},
	} {
		if got := errorText(c.err); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
