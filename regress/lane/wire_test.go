package lane

import (
	"bytes"
	"reflect"
	"slices"
	"testing"
	"testing/iotest"
	"time"

	"muster/regress/lane/observe"
)

// samples returns a message of each kind. No field is zero, nor those of the first element of
// a list.
func samples() map[string]message {
	item := Item{Name: "a.c", Target: "t", Exec: true, Size: 300, Offset: -2, Path: "d/a.c", Literal: true, Content: "int"}
	out := Output{Name: "out", Form: Symlink, Exec: true, Size: 5, Content: []byte("hello"), Stored: "7", Target: "to"}
	errors := Output{Name: "err", Form: Gone, Exec: true, Size: 4, Content: []byte("oops"), Stored: "8", Target: "from"}
	return map[string]message{
		"setup": &Setup{
			Root: "/r", Outbox: "/o", Canonical: "/c", Visible: []string{"v"}, PIDNamespace: true, Env: []string{"A=1", "B"}, Given: []Item{item, {Name: "h"}},
			Timeout: 3 * time.Second, Grace: 2, Patience: 70, MemoryMax: 1 << 30, OutputMax: 9, ProcessesMax: 400, Limits: []Limit{{7, 1024, 4096}}, Keep: true, NoNetwork: true, Shim: "/s",
		},
		"ready": &Ready{Fault: "no", CorpusChanged: true, DiskFull: true, NoInotify: true, Floor: 2100, HelperCPU: 4 * time.Millisecond},
		"batch": &Batch{[]Job{{Source: item, Path: "/bin/cc", Args: []string{"cc", "-S", "a.c"}, Stdin: true, Observe: true, Fork: true, NewServer: true}, {Path: "p"}}},
		"done": &Answer{
			Fault: "no", CorpusChanged: true, DiskFull: true, Stuck: true, NoServer: true, Kind: OutputLimit, Code: -3, CPU: time.Second, Wall: 2 * time.Second,
			Peak: 4000, Stdout: out, Stderr: errors, Files: []Output{out, {Name: "x"}}, Floor: 2100, HelperCPU: 6,
			NoInotify: true, HelperEnds: true, BatchEnds: true,
			Observed: &observe.Observation{
				Accesses: []observe.Access{{Path: "/l", Kind: observe.Opened | observe.Asked, Folder: "/f", Head: "#!x"}, {Path: "/n"}},
				Contact:  "c", Blind: "b", Missed: []string{"/m"}, NoPrivileges: true, Lost: []string{"/dev/null"}, Events: 9,
			},
		},
	}
}

// TestEveryFieldIsSent finds a field that a message has, and that one side forgets.
func TestEveryFieldIsSent(t *testing.T) {
	for name, m := range samples() {
		failOnZeroFields(t, reflect.ValueOf(m).Elem())
		got := reflect.New(reflect.TypeOf(m).Elem()).Interface().(message)
		var frames Frames
		stream := iotest.OneByteReader(bytes.NewReader(slices.Repeat(m.AppendFrame([]byte("of an earlier message")), 2)))
		for range 2 { // the second time into memory that was used
			text, err := frames.Next(stream.Read)
			if err == nil {
				err = got.Decode(text)
			}
			if err != nil || !reflect.DeepEqual(normal(got), normal(m)) {
				t.Errorf("%s: got\n%+v, %v; want\n%+v", name, got, err, m)
			}
		}
	}
}

// failOnZeroFields reports the fields of a sample that have their zero value, also in structs
// and in the first elements of lists below it.
func failOnZeroFields(t *testing.T, sample reflect.Value) {
	for i := range sample.NumField() {
		field := sample.Field(i)
		if field.IsZero() {
			t.Errorf("%s.%s is zero in samples: set it", sample.Type(), sample.Type().Field(i).Name)
			continue
		}
		if field.Kind() == reflect.Slice {
			field = field.Index(0)
		}
		if field.Kind() == reflect.Struct {
			failOnZeroFields(t, field)
		}
	}
}
