package pooled_test

import (
	"os"
	"testing"

	"muster/fileio"
	"muster/fileio/pooled"
	"muster/test/kits/enginetest"
)

func TestEngine(t *testing.T) {
	of := map[string]pooled.Options{"several": {Threads: 4, Light: 2}}
	if os.Getenv("MUSTER_LONG") != "" {
		of["one thread"] = pooled.Options{Threads: 1}
	}
	for name, o := range of {
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
