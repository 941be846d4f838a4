package golden

import (
	"context"
	"fmt"

	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
)

// Bytes returns the whole content of a part that was Put. It serves rules that compare rewritten
// contents while a store is built. That is rare, so it prepares its statements each time.
func (w *Writer) Bytes(p outcome.Part) (b []byte, err error) {
	if !HasContent(p) {
		return nil, fmt.Errorf("%s: %w", name.Print(p.String()), errNoContent)
	}
	err = w.call(func(context.Context) error {
		c, err := newContents(w.committer.conn.PrepareContext, func(err error) error { return err })
		if err != nil {
			return err
		}
		defer c.close()
		r, err := c.open(p)
		if err != nil {
			return err
		}
		b, err = r.all()
		return err
	})
	return b, err
}
