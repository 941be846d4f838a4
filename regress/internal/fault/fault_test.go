package fault_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"muster/regress/internal/fault"
)

func TestClassOf(t *testing.T) {
	for _, c := range []struct {
		err  error
		want fault.Class
	}{
		{nil, fault.None},
		{fault.Inputf("no golden"), fault.Input},
		{fmt.Errorf("check: %w", fault.Emptyf("nothing selected")), fault.Empty},
		{fault.Environmentf("read: %w", io.ErrUnexpectedEOF), fault.Environment},
		{fmt.Errorf("run: %w", context.Canceled), fault.Interrupted},
		{errors.New("unforeseen"), fault.Environment},
	} {
		if got := fault.ClassOf(c.err); got != c.want {
			t.Errorf("ClassOf(%v) = %v, want %v", c.err, got, c.want)
		}
	}
	if !errors.Is(fault.Environmentf("read: %w", io.EOF), io.EOF) {
		t.Error("the cause is lost")
	}
}
