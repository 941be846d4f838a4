package lab_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"muster/lab"
)

// expectInputError checks that an error is an InputError.
func expectInputError(t *testing.T, err error) {
	t.Helper()
	var input *lab.InputError
	if !errors.As(err, &input) {
		t.Errorf("%v is not an InputError", err)
	}
}

// Invalid numbers are rejected before anything starts. The error names the value and its
// bounds.
func TestRefusals(t *testing.T) {
	o := fakeOptions(t, "usage", 1) // starting it would be another error
	dispatch := func(alter func(*lab.DispatchOptions)) func(*testing.T) error {
		return func(t *testing.T) error {
			o := tinyDispatch(o)
			alter(&o)
			_, err := lab.Dispatch(t.Context(), o)
			return err
		}
	}
	channel := func(alter func(*lab.ChannelOptions)) func(*testing.T) error {
		return func(t *testing.T) error {
			o := tinyChannel(o)
			alter(&o)
			_, err := lab.Channel(t.Context(), o)
			return err
		}
	}
	spawn := func(alter func(*lab.SpawnOptions)) func(*testing.T) error {
		return func(t *testing.T) error {
			o := tinySpawn(o)
			alter(&o)
			_, err := lab.Spawn(t.Context(), o)
			return err
		}
	}
	files := func(alter func(*lab.IOOptions)) func(*testing.T) error {
		return func(t *testing.T) error {
			o := tinyIO(t, o)
			alter(&o)
			_, err := lab.IO(t.Context(), o)
			return err
		}
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for want, run := range map[string]func(*testing.T) error{
		"count is 0, but must be from 1 to 1000":                  dispatch(func(o *lab.DispatchOptions) { o.Count = 0 }),
		"count is 1001, ":                                         channel(func(o *lab.ChannelOptions) { o.Count = 1001 }),
		"jobs is 0, but must be from 1 to 1024":                   dispatch(func(o *lab.DispatchOptions) { o.Jobs = 0 }),
		"jobs is 1025, ":                                          dispatch(func(o *lab.DispatchOptions) { o.Jobs = 1025 }),
		"no tasks given":                                          dispatch(func(o *lab.DispatchOptions) { o.Tasks = nil }),
		"tasks is -1, but must be from 1 to 1000000000":           dispatch(func(o *lab.DispatchOptions) { o.Tasks = []int{-1} }),
		"tasks must rise: 10 comes after 100":                     dispatch(func(o *lab.DispatchOptions) { o.Tasks = []int{100, 10} }),
		"tasks must rise: 10 comes after 10":                      dispatch(func(o *lab.DispatchOptions) { o.Tasks = []int{10, 10} }),
		"procs is 0, ":                                            dispatch(func(o *lab.DispatchOptions) { o.Procs = []int{0} }),
		"procs is 4096, but must be from 1 to 1024":               channel(func(o *lab.ChannelOptions) { o.Procs = []int{1, 4096} }),
		"cycles is -1, but must be from 0 to 10000000":            channel(func(o *lab.ChannelOptions) { o.Cycles = []int{-1} }),
		"no cycles given":                                         channel(func(o *lab.ChannelOptions) { o.Cycles = nil }),
		"items is 150000, but must be a multiple of 100000":       channel(func(o *lab.ChannelOptions) { o.Items = 150_000 }),
		"items is 0, ":                                            channel(func(o *lab.ChannelOptions) { o.Items = 0 }),
		"processes is -1, but must be from 0 to 256":              channel(func(o *lab.ChannelOptions) { o.Processes = -1 }),
		"work is 0, but must be from 1 to 1000000":                spawn(func(o *lab.SpawnOptions) { o.Work = []int{0} }),
		"goroutines is 100000000, but must be from 1 to 10000000": spawn(func(o *lab.SpawnOptions) { o.Goroutines = []int{100_000_000} }),
		"no procs given":                                          spawn(func(o *lab.SpawnOptions) { o.Procs = nil }),
		"files is 0, ":                                            files(func(o *lab.IOOptions) { o.Files = 0 }),
		"renames is 9, but must be from 10 to 100000000":          files(func(o *lab.IOOptions) { o.Renames = 9 }),
		file + " is not a folder:":                                files(func(o *lab.IOOptions) { o.Dir = file }),
		`unknown peer "cobol": name a language (go`:               files(func(o *lab.IOOptions) { o.Peers = []string{"cobol"} }),
	} {
		t.Run(strings.ReplaceAll(want, "/", " "), func(t *testing.T) {
			err := run(t)
			expectInputError(t, err)
			if err != nil && !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%q does not begin with %q", err, want)
			}
		})
	}
}

// A probe rejects unknown arguments.
func TestProbeRefuses(t *testing.T) {
	for _, args := range [][]string{nil, {"nonsense"}, {"dispatch", "-unknown"}, {"dispatch", "-options", `{"unknown":1}`}, {"dispatch", "-options", `{"Tasks":"many"}`}, {"dispatch", "-options", `{"Mode":"nonsense","Workers":1,"Tasks":1}`}, {"channel", "-options", `{"Items":3}`}, {"block"}} {
		var output strings.Builder
		if err := lab.Probe(t.Context(), args, strings.NewReader(""), &output); err == nil || output.Len() > 0 {
			t.Errorf("%q: %v, output %q", args, err, output.String())
		}
	}
}
