package fileio_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"muster/fileio"
	"muster/fileio/pooled"
)

// A store whose files are read and written on four threads, and whose names on two more.
func Example() {
	folder, err := os.MkdirTemp("", "fileio-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)
	engine, err := pooled.New(pooled.Options{Threads: 4, Light: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	store, err := fileio.Open(folder, engine, fileio.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close()

	ctx := context.Background()
	if _, err := store.Put(ctx, "notes/today", strings.NewReader("few threads\n"), -1, nil); err != nil {
		fmt.Println(err)
		return
	}
	file, err := store.Get(ctx, "notes/today")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer file.Close()
	fmt.Println(file.Size, "bytes")
	if err := file.CopyTo(ctx, os.Stdout, 0, file.Size); err != nil {
		fmt.Println(err)
	}

	_, err = store.Stat(ctx, "notes/tomorrow")
	fmt.Println("missing:", errors.Is(err, fs.ErrNotExist))
	// Output:
	// 12 bytes
	// few threads
	// missing: true
}

// A condition decides on what the store has at that moment. Here it keeps two writers from
// replacing each other's file.
func ExampleStore_Put_condition() {
	folder, err := os.MkdirTemp("", "fileio-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)
	engine, err := pooled.New(pooled.Options{Threads: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	store, err := fileio.Open(folder, engine, fileio.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close()

	isNew := func(now *fileio.Info) bool { return now == nil }
	for _, writer := range []string{"first", "second"} {
		_, err := store.Put(context.Background(), "lock", strings.NewReader(writer), -1, isNew)
		fmt.Println(writer, "refused:", errors.Is(err, fileio.ErrChanged))
	}
	// Output:
	// first refused: false
	// second refused: true
}
