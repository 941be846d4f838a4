package decide

import (
	"context"
	"errors"
	"testing"
	"time"

	"muster/regress"
	"muster/regress/internal/golden"
	"muster/regress/internal/pastrun"
	"muster/regress/internal/place"
	"muster/regress/internal/review"
	"muster/regress/internal/state"
)

// updatedPlace is a place whose golden cannot be read. update stands for a change of it.
type updatedPlace struct {
	place.Place
	update func() error
}

func (updatedPlace) Open(context.Context) (*golden.Store, error) {
	return nil, errors.New("no golden")
}

func (p updatedPlace) Update(context.Context, func(*golden.Tx) error) error { return p.update() }

func (updatedPlace) Close() {}

// Decisions are written before the golden. They are restored if the golden cannot be changed.
func TestTransactionOrder(t *testing.T) {
	for _, refused := range []error{nil, errors.New("refused")} {
		st := state.Open(t.TempDir())
		kept, err := st.NewRun(state.Info{Command: regress.CheckCommand, Started: time.Unix(1, 0)})
		if err != nil {
			t.Fatal(err)
		}
		if err := kept.SaveResults([]state.Result{{Name: []byte("a"), Verdict: regress.Missing}}); err != nil {
			t.Fatal(err)
		}
		run, err := pastrun.Open(kept, pastrun.Options{Places: place.Options{State: st}})
		if err != nil {
			t.Fatal(err)
		}
		decision := func() review.State {
			decisions, err := run.Decisions()
			if err != nil {
				t.Fatal(err)
			}
			return decisions["G1"]
		}
		e := &effect{
			before: map[string]review.State{"G1": review.Rejected}, decisions: map[string]review.State{"G1": review.Accepted},
			goes: map[string]bool{"a": true},
		}
		at := updatedPlace{update: func() error {
			if d := decision(); d != review.Accepted {
				t.Errorf("the golden is changed while the written decision is %q", d)
			}
			return refused
		}}
		_, err = (&transaction{past: &pastrun.Past{Run: run}, effect: e, at: at}).writeAll(t.Context())
		if !errors.Is(err, refused) {
			t.Errorf("got %v, want %v", err, refused)
		}
		want := review.Accepted
		if refused != nil {
			want = review.Rejected
		}
		if d := decision(); d != want {
			t.Errorf("refused: %v: the written decision is %q, want %q", refused, d, want)
		}
		results, err := kept.Results()
		if err != nil || results[0].Accepted != (refused == nil) {
			t.Errorf("refused: %v: results are %+v, %v", refused, results, err)
		}
	}
}
