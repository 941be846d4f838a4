package main

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/pflag"
)

// Any file is accepted, or refused as a mistake of its author. An accepted file is shown as a
// file that means the same.
func FuzzConfigJSON(f *testing.F) {
	for _, text := range []string{
		"", "{}", "[]", "{", `{"Port": 1}`, `{"Port": "x", "UserProtoMsg": 3}`, `{"io-threads": 1e3}`, `{"io-threads": 7, "IoThreads": 8}`,
		`{"UserPoolIoSched": "c", "SetCpuAffinity": true, "DataDir": "a\u0000b"}`, `{"memory": "12M", "page-size": 4096} {}`,
		`{"config": "x"}`, `{"help": true}`, `{"idle": null}`, "{\"log\": \"\xff\"}", `{"sync": ""}`, `{"rate-min": "-1"}`,
	} {
		f.Add(text)
	}
	flagsOf := func() *pflag.FlagSet {
		flags := pflag.NewFlagSet("fuzz", pflag.ContinueOnError)
		newServeFlags().flags(flags)
		return flags
	}
	f.Fuzz(func(t *testing.T, text string) {
		dir := t.TempDir()
		file, shown := filepath.Join(dir, "config.json"), filepath.Join(dir, "shown.json")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		flags := flagsOf()
		if err := applyConfigJSON(flags, file); err != nil {
			if usage := (*usageError)(nil); !errors.As(err, &usage) {
				t.Errorf("%q: %v is no usage error", text, err)
			}
			return
		}
		out, err := os.Create(shown)
		if err != nil {
			t.Fatal(err)
		}
		defer out.Close()
		if err := printSettings(out, flags); err != nil {
			t.Fatal(err)
		}
		again := flagsOf()
		if err := applyConfigJSON(again, shown); err != nil {
			t.Fatalf("%q is shown as something that is refused: %v", text, err)
		}
		flags.VisitAll(func(one *pflag.Flag) {
			if is := again.Lookup(one.Name).Value.String(); is != one.Value.String() && isSetting(one) {
				t.Errorf("%q: %s is %q, and shown as %q", text, one.Name, one.Value, is)
			}
		})
	})
}
