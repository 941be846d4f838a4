package place

import (
	"context"

	"muster/regress/internal/golden"
)

// file is the place of a golden that is a file here.
type file struct{ path string }

func (f file) Open(context.Context) (*golden.Store, error) { return golden.Open(f.path) }

func (f file) Update(_ context.Context, do func(*golden.Tx) error) error {
	return golden.Update(f.path, do)
}

func (f file) Close() {}

func (f file) Path() string { return f.path }

func (f file) InState() bool { return false }

func (f file) Identify(map[string]string) {}

func (f file) Reopen(string) error { return nil }

func (f file) Publish(context.Context, string) error { return nil }

func (f file) prepare() error {
	if f.path == "" {
		return nil
	}
	return golden.CheckReplaceable(f.path)
}
