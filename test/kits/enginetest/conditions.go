package enginetest

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"muster/fileio"
)

// ifTag allows a change if the present file has the tag, or, with an empty tag, if no file
// exists.
func ifTag(tag string) fileio.Condition {
	return func(now *fileio.Info) bool { return now == nil && tag == "" || now != nil && now.Tag == tag }
}

func conditions(t *testing.T, s Store) {
	put := func(content string, want fileio.Condition) (fileio.Info, error) {
		return s.Put(t.Context(), "c", strings.NewReader(content), int64(len(content)), want)
	}
	first, err := put("one", ifTag(""))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := put("two", ifTag("")); !errors.Is(err, fileio.ErrChanged) {
		t.Errorf("put over an existing file with the condition that none exists: %v", err)
	}
	if _, err := put("three", ifTag(first.Tag)); err != nil {
		t.Fatal(err)
	}
	if _, err := put("four", ifTag(first.Tag)); !errors.Is(err, fileio.ErrChanged) {
		t.Errorf("put with the tag of a replaced file: %v", err)
	}
	CheckContent(t, s, "c", []byte("three"))
	t.Run("at the same time", func(t *testing.T) { OneWins(t, slices.Repeat([]Store{s}, 8), 10, 10) })
}

func conditionalDeletes(t *testing.T, s Store) {
	first, second := Put(t, s, "d", []byte("one")), Put(t, s, "d", []byte("two"))
	if err := s.Delete(t.Context(), "d", ifTag(first.Tag)); !errors.Is(err, fileio.ErrChanged) {
		t.Errorf("delete with the tag of a replaced file: %v", err)
	}
	CheckContent(t, s, "d", []byte("two"))
	if err := s.Delete(t.Context(), "d", ifTag(second.Tag)); err != nil {
		t.Error(err)
	}
	if err := s.Delete(t.Context(), "d", ifTag(second.Tag)); !errors.Is(err, fileio.ErrChanged) {
		t.Errorf("delete of a deleted file with its tag: %v", err)
	}
}

// OneWins has a writer for each of several stores, which keep the same files. In each round, all want
// to replace the same version or, every second time, to write the first one. Exactly one must
// succeed. None gets the last byte of its file, of at least size bytes, before all have got the others.
func OneWins(t *testing.T, stores []Store, rounds, size int) {
	tag := ""
	for round := range rounds {
		if round%2 == 0 && round > 0 {
			if err := stores[0].Delete(t.Context(), "w", nil); err != nil {
				t.Fatal(err)
			}
			tag = ""
		}
		var (
			wait, ready sync.WaitGroup
			mu          sync.Mutex
			won         []fileio.Info
		)
		ready.Add(len(stores))
		for i, s := range stores {
			data, arrive := Content(round*len(stores)+i, size+i), sync.OnceFunc(ready.Done)
			last := len(data) - 1
			r := io.MultiReader(bytes.NewReader(data[:last]), meeting{arrive, ready.Wait}, bytes.NewReader(data[last:]))
			wait.Go(func() {
				defer arrive()
				info, err := s.Put(t.Context(), "w", r, -1, ifTag(tag))
				mu.Lock()
				defer mu.Unlock()
				switch {
				case err == nil:
					won = append(won, info)
				case !errors.Is(err, fileio.ErrChanged):
					t.Error(err)
				}
			})
		}
		wait.Wait()
		if len(won) != 1 {
			t.Fatalf("round %d: %d writers replaced %q", round, len(won), tag)
		}
		tag = won[0].Tag
		if now, err := stores[0].Stat(t.Context(), "w"); err != nil || now.Tag != tag {
			t.Fatalf("round %d: %v is there, but %q won: %v", round, now, tag, err)
		}
	}
	t.Logf("one of %d writers won each of %d rounds", len(stores), rounds)
}

// A meeting is an empty reader that waits for all others.
type meeting struct{ arrive, wait func() }

func (m meeting) Read([]byte) (int, error) {
	m.arrive()
	m.wait()
	return 0, io.EOF
}
