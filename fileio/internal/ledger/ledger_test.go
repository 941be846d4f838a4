package ledger_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"muster/fileio/internal/ledger"
)

const block = ledger.Block

// open returns a ledger with room for some blocks, where names that begin with e may be evicted.
func open(t *testing.T, blocks int64, touch func(string)) *ledger.Ledger {
	t.Helper()
	if touch == nil {
		touch = func(string) {}
	}
	l := ledger.New(ledger.Options{Capacity: blocks * block, Evict: []string{"e"}, Touch: touch})
	t.Cleanup(l.Close)
	return l
}

// put puts a file of some blocks, and returns what was evicted for it.
func put(t *testing.T, l *ledger.Ledger, name string, blocks int64) string {
	t.Helper()
	victims, err := l.Reserve(blocks*block, "")
	if err != nil {
		t.Fatal(err)
	}
	l.Put(name, blocks*block, blocks*block)
	return strings.Join(victims, " ")
}

func TestOrder(t *testing.T) {
	l := open(t, 4, nil)
	for _, c := range []struct{ use, put, evicted string }{
		{"", "e1", ""}, {"", "e2", ""}, {"", "x", ""}, {"", "e3", ""},
		{"e1", "e4", "e2"},
		{"none", "e3", "e3"}, // a replacement needs room for both, and may evict what it replaces
		{"x", "y", "e1"},
		{"", "z", "e4"},
	} {
		if c.use != "" {
			l.Use(c.use)
		}
		if got := put(t, l, c.put, 1); got != c.evicted {
			t.Errorf("%s evicted %q, not %q", c.put, got, c.evicted)
		}
	}
	if got := put(t, l, "w", 1); got != "e3" {
		t.Errorf("%q was evicted", got)
	}
	_, err := l.Reserve(1, "")
	var full *ledger.FullError
	if !errors.Is(err, syscall.ENOSPC) || !errors.As(err, &full) || full.Fixed != 4*block {
		t.Errorf("a full store: %v", err)
	}
	if s := l.Stats(); s.Held != 4*block || s.Evicted != 5 || s.EvictedBytes != 5*block {
		t.Errorf("%+v", s)
	}
	l.Remove("x")
	l.Remove("none")
	if err := l.Fits(block, ""); err != nil || l.Fits(2*block, "") == nil {
		t.Errorf("after a removal: %v", err)
	}
}

func TestFill(t *testing.T) {
	l := open(t, 5, nil)
	day := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	victims, err := l.Fill([]ledger.Found{
		{"e1", block, day.Add(3)}, {"x", 2*block - 1, day}, {"e2", 1, day.Add(1)}, {"e3", 0, day.Add(2)}, {"e4", block, day.Add(4)},
	})
	if err != nil || !slices.Equal(victims, []string{"e2"}) {
		t.Errorf("evicted %q, %v", victims, err)
	}
	if got := put(t, l, "e5", 2); got != "e3 e1" {
		t.Errorf("evicted %q", got)
	}
	if _, err := open(t, 1, nil).Fill([]ledger.Found{{"x", block + 1, day}}); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("too many files at the start: %v", err)
	}
}

// A use is recorded at a file once an hour.
func TestTouch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		touched := map[string]int{}
		l := ledger.New(ledger.Options{Capacity: 10 * block, Evict: []string{"e"}, Touch: func(name string) { touched[name]++ }})
		old := time.Now().Add(-2 * time.Hour)
		if _, err := l.Fill([]ledger.Found{{"e1", 1, old}, {"x", 1, old}}); err != nil {
			t.Fatal(err)
		}
		put(t, l, "e2", 1)
		for range 5 * 60 {
			for _, name := range []string{"e1", "e2", "x", "none"} {
				l.Use(name)
			}
			time.Sleep(time.Minute)
		}
		l.Close()
		if touched["e1"] != 5 || touched["e2"] != 4 || len(touched) != 2 {
			t.Errorf("%v", touched)
		}
	})
}

// Whatever happens, the ledger agrees with a list that is searched from end to end.
func TestAgainstList(t *testing.T) {
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 0))
		const blocks = 20
		l := open(t, blocks, nil)
		type file struct {
			name string
			size int64
		}
		var list []file // not used for longest first
		reserved := int64(0)
		index := func(name string) int { return slices.IndexFunc(list, func(f file) bool { return f.name == name }) }
		remove := func(name string) {
			if i := index(name); i >= 0 {
				list = slices.Delete(list, i, i+1)
			}
		}
		sum := func(all bool) (n int64) {
			for _, f := range list {
				if all || f.name[0] != 'e' {
					n += f.size
				}
			}
			return n + reserved
		}
		for range 300 {
			name := fmt.Sprintf("%c%d", "ex"[random.IntN(2)], random.IntN(8))
			switch random.IntN(6) {
			case 0:
				l.Remove(name)
				remove(name)
			case 1, 2:
				l.Use(name)
				if i := index(name); i >= 0 {
					f := list[i]
					remove(name)
					list = append(list, f)
				}
			default:
				room := 1 + random.Int64N(6)
				var want []string
				fits := sum(false)+room <= blocks
				for i := 0; fits && sum(true)+room > blocks; {
					if list[i].name[0] == 'e' {
						want = append(want, list[i].name)
						list = slices.Delete(list, i, i+1)
					} else {
						i++
					}
				}
				victims, err := l.Reserve(room*block, "")
				if (err == nil) != fits || !slices.Equal(victims, want) {
					t.Fatalf("seed %d: %d blocks for %s: %q, %v; not %q", seed, room, name, victims, err, want)
				}
				switch {
				case err != nil:
				case random.IntN(4) == 0: // the file is not written
					l.Release(room * block)
				default:
					l.Put(name, room*block, room*block)
					remove(name)
					list = append(list, file{name, room})
				}
			}
			if held := l.Stats().Held; held != sum(true)*block || held > blocks*block {
				t.Fatalf("seed %d: %d bytes, not %d", seed, held, sum(true)*block)
			}
		}
	}
}
