package pooled_test

import (
	"testing"

	"muster/fileio"
	"muster/fileio/pooled"
	"muster/test/kits/enginetest"
)

func TestEngine(t *testing.T) {
	for name, o := range map[string]pooled.Options{
		"one thread": {Threads: 1}, "several": {Threads: 4, Light: 2},
	} {
		t.Run(name, func(t *testing.T) {
			enginetest.Run(t, func(t *testing.T) fileio.Engine {
				e, err := pooled.New(o)
				if err != nil {
					t.Fatal(err)
				}
				return e
			})
		})
	}
}
