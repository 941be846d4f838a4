package terminal

import (
	"context"
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"muster/regress/internal/cause"
	"muster/regress/internal/review"
)

// bigDesk is a review of 3,000 cases that show 24 of 3,000 causes each, one of them in all,
// with contents of about half a megabyte.
func bigDesk() *review.Desk {
	const count, shown = 3000, 24
	items, cases := make([]review.Item, count), make([]review.Case, count)
	for i := range count {
		items[i].ID, items[i].Kind, items[i].Lines = fmt.Sprintf("G%d", i+1), "edit", 3000
		items[i].Name = fmt.Sprintf(`"name_%d" → "名前_%d"`, i, i)
		name := fmt.Sprintf("src/package_%d/some_longer_name_%04d.go", i%20, i)
		cases[i] = review.Case{Name: name, Printed: name, Verdict: "changed", Items: []int{0}}
		for n := range shown - 1 {
			if item := (i*31 + n*127) % count; item > 0 {
				cases[i].Items = append(cases[i].Items, item)
			}
		}
		for _, item := range cases[i].Items {
			items[item].Members = append(items[item].Members, i)
			items[item].Cases++
		}
	}
	p := review.Part{Name: "stdout", Words: "bytes differ"}
	for line := range 20000 {
		text := fmt.Sprintf("%d: a line of output\n", line)
		p.Edits = append(p.Edits, cause.Attributed{
			LiteralEdit: cause.LiteralEdit{Old: cause.Span{From: len(p.Old), To: len(p.Old) + 2}, Now: cause.Span{From: len(p.Now), To: len(p.Now) + 1}}, Cause: line % 3,
		})
		p.Old, p.Now = append(p.Old, "- "+text...), append(p.Now, "+"+text...)
	}
	return &review.Desk{
		Review: review.New(items, cases, nil), Run: "run", Command: "check", Golden: "muster.golden",
		Difference: func(context.Context, string) (review.Difference, error) {
			return review.Difference{Parts: []review.Part{p}}, nil
		},
	}
}

// frame is a key and all that follows until its frame is there.
func frame(m *model, key string) {
	press(m, key)
	_ = strings.Join(m.rows(), "\n")
}

// What a reviewer of 3,000 differences waits for after a key.
func BenchmarkKeys(b *testing.B) {
	for name, keys := range map[string][2]string{
		"next cause": {"j", "k"}, "next case": {"n", "p"}, "form": {"v", "v"}, "filter": {"/", "x"}, "filter all": {"/", "s"}, "decide": {"a", "u"}, "decide all": {"A", "u"},
	} {
		b.Run(name, func(b *testing.B) {
			m := newModel(b.Context(), bigDesk(), true)
			m.Update(tea.WindowSizeMsg{Width: 200, Height: 60})
			for n := range b.N {
				if key := keys[n%2]; keys[0] == "/" {
					m.stage, m.typed = filtering, ""
					frame(m, keys[1])
				} else {
					frame(m, key)
				}
			}
		})
	}
	b.Run("confirmation", func(b *testing.B) {
		m := newModel(b.Context(), bigDesk(), true)
		m.Update(tea.WindowSizeMsg{Width: 200, Height: 60})
		press(m, "A", "q")
		for range b.N {
			frame(m, "j")
		}
	})
	b.Run("open", func(b *testing.B) {
		d := bigDesk()
		for range b.N {
			m := newModel(b.Context(), &review.Desk{Review: review.New(d.Items(), d.Cases(), nil), Difference: d.Difference}, true)
			m.Update(m.load()())
			_ = m.rows()
		}
	})
	b.Run("others", func(b *testing.B) {
		m := newModel(b.Context(), bigDesk(), true)
		press(m, "A")
		for range b.N {
			m.Update(presentState{now: review.Now{Promoted: func(string) bool { return false }}})
			_ = m.rows()
		}
	})
}
