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

	"muster/fileio/internal/fair"
)

func who(address string) fair.Client { return fair.Client{Address: address} }

// A client that waits gets a unit before one that had its turn meanwhile gets another.
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := fair.New(fair.Options{Size: 1})
		must(t, b.Take(t.Context(), who("holder")))
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
			ask(who("greedy"))
		}
		ask(who("modest"))
		ask(fair.Client{Token: "t", Address: "1"})
		ask(fair.Client{Token: "t", Address: "1"})
		ask(fair.Client{Token: "t", Address: "2"})
		b.Give(who("holder"), 1)
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

// A client that takes many units leaves as many. When clients take all they get, one after
// another, each gets half of what is left.
func TestTryLeavesAsMany(t *testing.T) {
	b := fair.New(fair.Options{Size: 100})
	var got [3]int
	for i := range got {
		for b.Try(who(fmt.Sprint(i)), 1) {
			got[i]++
		}
	}
	if got != [3]int{50, 25, 12} {
		t.Error(got)
	}
	// A token is limited as a whole, however many addresses it has.
	b = fair.New(fair.Options{Size: 100})
	n := 0
	for i := 0; b.Try(fair.Client{Token: "t", Address: fmt.Sprint(i)}, 1); i++ {
		n++
	}
	if n != 50 {
		t.Error(n)
	}
}

// A request that waits too long is refused, and so is one too many. The requests of one client
// leave places for others.
func TestRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := fair.New(fair.Options{Size: 1, WaitingMax: 8, WaitMax: time.Second})
		must(t, b.Take(t.Context(), who("holder")))
		busy := make(chan error, 100)
		ask := func(ctx context.Context, address string, times int) {
			for range times {
				go func() { busy <- b.Take(ctx, who(address)) }()
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
		b.Give(who("holder"), 1)
		must(t, b.Take(t.Context(), who("greedy")))
	})
}

// A budget agrees with a model: never more than its size is held, and nobody waits while a
// unit is free. In the end nothing is held.
func TestBudgetAgainstModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		synctest.Test(t, func(t *testing.T) {
			size := rapid.Int64Range(1, 6).Draw(rt, "size")
			b := fair.New(fair.Options{Size: size, WaitingMax: rapid.IntRange(1, 8).Draw(rt, "waiting"), WaitMax: 10 * time.Second})
			held := map[fair.Client]int64{}
			took := make(chan fair.Client, 100)
			var cancels []context.CancelFunc
			for range rapid.IntRange(1, 60).Draw(rt, "steps") {
				c := fair.Client{Token: rapid.SampledFrom([]string{"", "s", "t"}).Draw(rt, "token"), Address: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(rt, "address")}
				switch rapid.IntRange(0, 5).Draw(rt, "step") {
				case 0, 1:
					ctx, cancel := context.WithCancel(t.Context())
					cancels = append(cancels, cancel)
					go func() {
						if b.Take(ctx, c) == nil {
							took <- c
						}
					}()
				case 2:
					if n := rapid.Int64Range(1, 3).Draw(rt, "more"); b.Try(c, n) {
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
				synctest.Wait()
				for len(took) > 0 {
					held[<-took]++
				}
				sum := int64(0)
				for _, n := range held {
					sum += n
				}
				if s := b.Stats(); s.Held != sum || sum > size || s.Waiting > 0 && sum < size {
					rt.Fatalf("%+v of %d, and %d are held", s, size, sum)
				}
			}
			for _, cancel := range cancels {
				cancel()
			}
			synctest.Wait()
			for len(took) > 0 {
				held[<-took]++
			}
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
		c := who("127.0.0.1")
		_ = budget.Take(context.Background(), c)
		for pb.Next() {
			_ = budget.Take(context.Background(), c)
			budget.Give(c, 1)
		}
	})
}
