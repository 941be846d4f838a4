package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"muster/internal/readable"

	"github.com/spf13/pflag"
)

// An articleKey maps a key of the articles' program to a flag.
type articleKey struct {
	flag  string
	value func(string) string // converts the value; nil = unchanged
}

// articleKeys returns all keys of the articles' config.json.
func articleKeys() map[string]articleKey {
	return map[string]articleKey{
		"Port":            {"addr", func(port string) string { return "127.0.0.1:" + port }},
		"UserProtoMsg":    {"protocol", func(yes string) string { return map[bool]string{true: "protobuf", false: "json"}[yes == "true"] }},
		"PageSize":        {"page-size", nil},
		"MaxOpenFiles":    {"open-files", nil},
		"LogCountPerFile": {"log-lines", nil},
		"DataDir":         {"data", nil},
		"UserPoolIoSched": {"io", func(kind string) string {
			switch kind {
			case "C", "c":
				return ioCThreads
			case "G", "g":
				return ioPool
			}
			return ioDirect
		}},
		"IoThreads":       {"io-threads", nil},
		"PriorIoThreads":  {"prior-io-threads", nil},
		"SetCpuAffinity":  {"cpu-affinity", nil},
		"WaitingQueueLen": {"queue-max", nil},
	}
}

// configBytesMax is far more than all settings need.
const configBytesMax = 1 << 20

// applyConfigJSON sets the flags that the command line did not set to the values in a file. Server
// and client share one file, so it ignores keys that only one of others has. A flag's own name overrides the articles' name for
// it.
func applyConfigJSON(f *pflag.FlagSet, file string, others ...*pflag.FlagSet) error {
	if file == "" {
		return nil
	}
	settings, err := readConfigJSON(file)
	if err != nil {
		return err
	}
	known := configNames(append(others, f)...)
	for key := range settings {
		if !slices.Contains(known, key) {
			return usagef("%s: unknown key %q%s", file, key, suggest(key, known))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(settings)) {
		flag, value := key, settings[key]
		if article, ok := articleKeys()[key]; ok {
			if flag = article.flag; settings[flag] != "" {
				continue
			}
			if article.value != nil {
				value = article.value(value)
			}
		}
		if target := f.Lookup(flag); target == nil || target.Changed {
			continue
		}
		if err := f.Set(flag, value); err != nil {
			return usagef("%s: %s: %w", file, key, err)
		}
	}
	return nil
}

// configNames returns the keys that a file may have.
func configNames(sets ...*pflag.FlagSet) []string {
	names := slices.Collect(maps.Keys(articleKeys()))
	for _, f := range sets {
		f.VisitAll(func(flag *pflag.Flag) {
			if isSetting(flag) {
				names = append(names, flag.Name)
			}
		})
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// isSetting reports whether a flag is a setting of a run.
func isSetting(f *pflag.Flag) bool { return f.Name != "config" && f.Name != "help" }

// readConfigJSON returns the file's single object. Its values are texts, numbers, true or
// false.
func readConfigJSON(file string) (map[string]string, error) {
	text, err := readBounded(file, configBytesMax)
	if err != nil {
		return nil, usagef("--config: %w", err)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var object map[string]any
	err = d.Decode(&object)
	if err == nil {
		if _, err = d.Token(); err == nil {
			err = errors.New("the file continues after the object")
		} else if err == io.EOF {
			err = nil
		}
	}
	if err != nil {
		at := d.InputOffset()
		if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
			at = syntax.Offset
		}
		return nil, usagef("%s: line %d: %w: write one object, such as {\"addr\": \"127.0.0.1:9999\"}", file, lineOf(text, at), err)
	}
	settings := map[string]string{}
	for key, value := range object {
		switch value.(type) {
		case string, json.Number, bool:
			settings[key] = fmt.Sprint(value)
		default:
			return nil, usagef("%s: %s: write a text, a number, true or false", file, key)
		}
	}
	return settings, nil
}

func lineOf(text []byte, offset int64) int {
	return 1 + bytes.Count(text[:min(int64(len(text)), offset)], []byte("\n"))
}

func readBounded(name string, most int64) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, most+1))
	if err == nil && int64(len(text)) > most {
		err = fmt.Errorf("%s has more than %s", name, readable.Count(most, "byte"))
	}
	return text, err
}

// printSettings prints all settings as a file for --config.
func printSettings(w io.Writer, f *pflag.FlagSet) error {
	var lines []string
	var err error
	f.VisitAll(func(flag *pflag.Flag) {
		if !isSetting(flag) || flag.Value.Type() == "SIZE" && flag.Value.String() == "" { // the default depends on other settings
			return
		}
		var value any = flag.Value.String()
		switch flag.Value.Type() {
		case "int", "bool":
			value = json.RawMessage(flag.Value.String())
		}
		text, e := json.Marshal(value)
		err = errors.Join(err, e)
		lines = append(lines, fmt.Sprintf("  %q: %s", flag.Name, text))
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "{\n%s\n}\n", strings.Join(lines, ",\n"))
	return err
}

// readTokens returns the tokens of a file, one per line, and those of another file, which only read.
// Without the first file, the environment's token stands for it. Both may be nil.
func readTokens(file, readerFile string) (tokens, readers []string, err error) {
	if token := os.Getenv(tokenVariable); file == "" && token != "" {
		tokens = []string{token}
	} else if file != "" {
		tokens, err = tokensIn("--token-file", file)
	}
	if readerFile == "" || err != nil {
		return tokens, nil, err
	}
	readers, err = tokensIn("--read-token-file", readerFile)
	switch {
	case err != nil:
		return nil, nil, err
	case len(tokens) == 0:
		return nil, nil, usagef("--read-token-file: without another token nobody could write: set MUSTER_TOKEN or --token-file too")
	case slices.ContainsFunc(readers, func(token string) bool { return slices.Contains(tokens, token) }):
		return nil, nil, usagef("--read-token-file: one of its tokens may also write, because MUSTER_TOKEN or --token-file has it too: give each token only once")
	}
	return tokens, readers, nil
}

// tokensIn returns the tokens of the file that a flag names.
func tokensIn(flag, file string) ([]string, error) {
	text, err := readBounded(file, 64<<10)
	if err != nil {
		return nil, usagef("%s: %w", flag, err)
	}
	var tokens []string
	for line := range strings.Lines(string(text)) {
		if token := strings.TrimSpace(line); token != "" && token[0] != '#' && !slices.Contains(tokens, token) {
			tokens = append(tokens, token)
		}
	}
	if len(tokens) == 0 {
		return nil, usagef("%s: %s has no token", flag, file)
	}
	return tokens, nil
}
