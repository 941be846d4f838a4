package fair_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"muster/internal/fair"
)

func clientAt(address string) fair.Client { return fair.Client{Address: address} }

// A waiting client gets a unit before a client that was served meanwhile gets another one.
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := fair.New(fair.Options{Size: 1})
		must(t, b.Take(t.Context(), clientAt("holder")))
		var order []string
		ask := func(c fair.Client) {
			go func() {
				must(t, b.Take(t.Context(), c))
				order = append(order, c.Token+c.Address)
				b.Give(c, 1)
			}()
			synctest.Wait()
		}
		for range 3 {
			ask(clientAt("greedy"))
		}
		ask(clientAt("modest"))
		ask(fair.Client{Token: "t", Address: "1"})
		ask(fair.Client{Token: "t", Address: "1"})
		ask(fair.Client{Token: "t", Address: "2"})
		b.Give(clientAt("holder"), 1)
		synctest.Wait()
		if want := []string{"greedy", "t1", "modest", "t2", "greedy", "t1", "greedy"}; !slices.Equal(order, want) {
			t.Errorf("%q", order)
		}
	})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

// A client that takes many units leaves as many. When clients take as much as they can, one
// after another, each gets half of the rest.
func TestTryLeavesAsMany(t *testing.T) {
	b := fair.New(fair.Options{Size: 100})
	var got [3]int
	for i := range got {
		for b.TryTake(clientAt(fmt.Sprint(i)), 1) {
			got[i]++
		}
	}
	if got != [3]int{50, 25, 12} {
		t.Error(got)
	}
	// A token is limited as a whole, however many addresses it has.
	b = fair.New(fair.Options{Size: 100})
	n := 0
	for i := 0; b.TryTake(fair.Client{Token: "t", Address: fmt.Sprint(i)}, 1); i++ {
		n++
	}
	if n != 50 {
		t.Error(n)
	}
}

// With shares, an address or a token that has half of the units waits although others are
// free. Other clients get units at once.
func TestShares(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := fair.New(fair.Options{Size: 100, Shares: true, WaitMax: time.Second})
		var got []int
		for _, c := range []fair.Client{clientAt("greedy"), clientAt("next"), {Token: "t", Address: "1"}, {Token: "t", Address: "2"}} {
			n := 0
			for b.Take(t.Context(), c) == nil {
				n++
			}
			got = append(got, n)
		}
		if want := []int{50, 25, 8, 3}; !slices.Equal(got, want) {
			t.Errorf("%d, want %d", got, want)
		}
		// A request waits until its own share allows it. Other clients do not wait behind it.
		got = got[:0]
		for i, address := range []string{"greedy", "next"} {
			go func() {
				must(t, b.Take(t.Context(), clientAt(address)))
				got = append(got, i)
			}()
			synctest.Wait()
		}
		b.Give(clientAt("next"), 20)
		synctest.Wait()
		b.Give(clientAt("greedy"), 40)
		synctest.Wait()
		if want := []int{1, 0}; !slices.Equal(got, want) {
			t.Errorf("%d, want %d", got, want)
		}
	})
}

// A request that gives up does not cost its client the turn.
func TestGivingUpKeepsTheTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := fair.New(fair.Options{Size: 1})
		must(t, b.Take(t.Context(), clientAt("holder")))
		ctx, giveUp := context.WithCancel(t.Context())
		var order []string
		ask := func(ctx context.Context, address string) {
			go func() {
				if b.Take(ctx, clientAt(address)) == nil {
					order = append(order, address)
					b.Give(clientAt(address), 1)
				}
			}()
			synctest.Wait()
		}
		ask(ctx, "first")
		ask(t.Context(), "first")
		ask(t.Context(), "second")
		giveUp()
		synctest.Wait()
		b.Give(clientAt("holder"), 1)
		synctest.Wait()
		if want := []string{"first", "second"}; !slices.Equal(order, want) {
			t.Errorf("%q", order)
		}
	})
}

// Late requests take no places from requests that wait in Take.
func TestLateTakesNoPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := fair.New(fair.Options{Size: 1, WaitingMax: 4})
		must(t, b.Take(t.Context(), clientAt("holder")))
		for range 100 {
			go func() { must(t, b.TakeLate(t.Context(), clientAt("greedy"))); b.Give(clientAt("greedy"), 1) }()
		}
		synctest.Wait()
		began := false
		go func() { must(t, b.Take(t.Context(), clientAt("modest"))); began = true; b.Give(clientAt("modest"), 1) }()
		synctest.Wait()
		b.Give(clientAt("holder"), 1)
		synctest.Wait()
		if s := b.Stats(); !began || s.Held+s.Waiting > 0 {
			t.Errorf("began: %t, %+v", began, s)
		}
	})
}

// A request that waits too long is refused, and so is a request beyond WaitingMax. The requests
// of one client leave places for others.
func TestRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := fair.New(fair.Options{Size: 1, WaitingMax: 8, WaitMax: time.Second})
		must(t, b.Take(t.Context(), clientAt("holder")))
		busy := make(chan error, 100)
		ask := func(ctx context.Context, address string, times int) {
			for range times {
				go func() { busy <- b.Take(ctx, clientAt(address)) }()
				synctest.Wait()
			}
		}
		ask(t.Context(), "greedy", 10)
		if len(busy) != 6 || b.Stats().Waiting != 4 {
			t.Errorf("%d of 10 are refused, %+v", len(busy), b.Stats())
		}
		ctx, cancel := context.WithCancel(t.Context())
		ask(ctx, "modest", 1)
		if len(busy) != 6 {
			t.Error("there is no place for a second client")
		}
		cancel()
		synctest.Wait()
		if len(busy) != 7 || b.Stats().Waiting != 4 {
			t.Errorf("%+v", b.Stats())
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if len(busy) != 11 || b.Stats().Waiting != 0 || b.Stats().Refused != 10 {
			t.Errorf("%d, %+v", len(busy), b.Stats())
		}
		canceled := 0
		for range 11 {
			if err := <-busy; errors.Is(err, context.Canceled) {
				canceled++
			} else if !errors.Is(err, fair.ErrBusy) {
				t.Error(err)
			}
		}
		if canceled != 1 {
			t.Error(canceled)
		}
		b.Give(clientAt("holder"), 1)
		must(t, b.Take(t.Context(), clientAt("greedy")))
	})
}

// A budget agrees with a model. Clients never hold more units than its size, and no client
// waits while a unit is free for it. In the end no unit is held.
func TestBudgetAgainstModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		synctest.Test(t, func(t *testing.T) {
			size := rapid.Int64Range(1, 6).Draw(rt, "size")
			shares := rapid.Bool().Draw(rt, "shares")
			b := fair.New(fair.Options{Size: size, Shares: shares, WaitingMax: rapid.IntRange(1, 8).Draw(rt, "waiting"), WaitMax: 10 * time.Second})
			held := map[fair.Client]int64{}
			waiting := map[fair.Client]int{}
			type end struct {
				fair.Client
				err error
			}
			ended := make(chan end, 100)
			settle := func() {
				synctest.Wait()
				for len(ended) > 0 {
					e := <-ended
					if waiting[e.Client]--; e.err == nil {
						held[e.Client]++
					}
				}
			}
			var cancels []context.CancelFunc
			for range rapid.IntRange(1, 60).Draw(rt, "steps") {
				c := fair.Client{Token: rapid.SampledFrom([]string{"", "s", "t"}).Draw(rt, "token"), Address: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(rt, "address")}
				switch rapid.IntRange(0, 5).Draw(rt, "step") {
				case 0, 1:
					ctx, cancel := context.WithCancel(t.Context())
					cancels = append(cancels, cancel)
					waiting[c]++
					go func() { ended <- end{c, b.Take(ctx, c)} }()
				case 2:
					if n := rapid.Int64Range(1, 3).Draw(rt, "more"); b.TryTake(c, n) {
						held[c] += n
					}
				case 3:
					if held[c] > 0 {
						n := rapid.Int64Range(1, held[c]).Draw(rt, "less")
						held[c] -= n
						b.Give(c, n)
					}
				case 4:
					if len(cancels) > 0 {
						cancels[rapid.IntRange(0, len(cancels)-1).Draw(rt, "who")]()
					}
				case 5:
					time.Sleep(time.Duration(rapid.IntRange(0, 9).Draw(rt, "seconds")) * time.Second)
				}
				settle()
				sum, token := int64(0), map[string]int64{}
				for c, n := range held {
					sum += n
					token[c.Token] += n
				}
				if s := b.Stats(); s.Held != sum || sum > size {
					rt.Fatalf("%+v of %d, and %d are held", s, size, sum)
				}
				free := size - sum
				may := func(held, free int64) bool { return !shares || held == 0 || held+1 <= free-1 }
				for c, n := range waiting {
					left := free
					if c.Token != "" {
						left -= token[c.Token] + 1
					}
					if n > 0 && free > 0 && may(held[c], left) && (c.Token == "" || may(token[c.Token], free)) {
						rt.Fatalf("%v waits, has %d, and %d of %d are free", c, held[c], free, size)
					}
				}
			}
			for _, cancel := range cancels {
				cancel()
			}
			settle()
			for c, n := range held {
				b.Give(c, n)
			}
			if s := b.Stats(); s.Held != 0 || s.Waiting != 0 || !b.Empty() {
				rt.Fatalf("in the end %+v", s)
			}
		})
	})
}

// BenchmarkTake takes one unit and gives it back, for a client that holds others.
func BenchmarkTake(b *testing.B) {
	budget := fair.New(fair.Options{Size: 1 << 20})
	b.RunParallel(func(pb *testing.PB) {
		c := clientAt("127.0.0.1")
		_ = budget.Take(context.Background(), c)
		for pb.Next() {
			_ = budget.Take(context.Background(), c)
			budget.Give(c, 1)
		}
	})
}
