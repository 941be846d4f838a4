package fault_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"muster/regress"
	"muster/regress/internal/fault"
)

func TestClassOf(t *testing.T) {
	for _, c := range []struct {
		err  error
		want regress.Class
	}{
		{nil, regress.None},
		{fault.Inputf("no golden"), regress.Input},
		{fmt.Errorf("check: %w", fault.Emptyf("nothing selected")), regress.Empty},
		{fault.Environmentf("read: %w", io.ErrUnexpectedEOF), regress.Environment},
		{fmt.Errorf("run: %w", context.Canceled), regress.Interrupted},
		{errors.New("unforeseen"), regress.Environment},
	} {
		if got := regress.ClassOf(c.err); got != c.want {
			t.Errorf("ClassOf(%v) = %v, want %v", c.err, got, c.want)
		}
	}
	if !errors.Is(fault.Environmentf("read: %w", io.EOF), io.EOF) {
		t.Error("the cause is lost")
	}
}
