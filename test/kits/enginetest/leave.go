package enginetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"muster/fileio"
	"muster/internal/fair"
)

// cancelledCallers has callers cancel their Puts at any time. Each file must be whole, and a
// caller must own its data again after Put. In the end no job may run or wait.
func cancelledCallers(t *testing.T, s Store) {
	var callers sync.WaitGroup
	for who := range 16 {
		callers.Go(func() {
			for n := range 20 {
				ctx, cancel := context.WithCancel(fair.WithClient(t.Context(), fair.Client{Address: fmt.Sprint(who % 3)}))
				if n%3 == 0 {
					go cancel()
				}
				data := Content(who, 10_000*(1+n%2*40))
				_, err := s.Put(ctx, fmt.Sprint(who), bytes.NewReader(data), int64(len(data)), nil)
				cancel()
				clear(data) // no thread may read it any more
				if err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, fileio.ErrBusy) {
					t.Error(err)
				}
			}
		})
	}
	callers.Wait()
	for who := range 16 {
		got, err := Get(t.Context(), s, fmt.Sprint(who))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		} else if err == nil && !bytes.Equal(got, Content(who, len(got))) {
			t.Errorf("file %d has %d bytes that nobody wrote", who, len(got))
		}
	}
	if stats := s.Stats(); stats.Running != 0 || stats.Waiting != 0 {
		t.Errorf("%+v", stats)
	}
}

// TempFiles lists the temporary files in a store's folder.
func TempFiles(t testing.TB, folder string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasPrefix(d.Name(), "~") {
			names = append(names, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
