package lane

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"math"
	"reflect"
	"testing"
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

// TestWire pins the bytes of every message.
func TestWire(t *testing.T) {
	want := map[string]string{
		"setup": "4e000000042f72042f6f042f63020276010406413d3102420406612e63027401d804030a642f612e630106696e7402680000000000000080f882ad16048c01808080800812a006020e801080400101042f73",
		"ready": "0c000000046e6f010101e82080a4e803",
		"batch": "3c0000000406612e63027401d804030a642f612e630106696e740e2f62696e2f636306046363042d5306612e6301010101000000000000000002700000000000",
		"done":  "83000000046e6f01010101080580a8d6b90780d0acf30ec03e066f757402010a0a68656c6c6f023704746f06657272040108086f6f707302380866726f6d04066f757402010a0a68656c6c6f023704746f0278000000000000e8200c0101010104042f6c0c042f6606232178042f6e0000000263026202042f6d0102122f6465762f6e756c6c12",
	}
	for name, m := range samples() {
		if got := hex.EncodeToString(m.AppendFrame(nil)); got != want[name] {
			t.Errorf("%s is\n%s, want\n%s", name, got, want[name])
		}
	}
}

// TestNumbers compares numbers in messages with those of encoding/binary.
func TestNumbers(t *testing.T) {
	for _, v := range []int64{0, 1, -1, 63, 64, -64, -65, 1 << 31, math.MaxInt64, math.MinInt64} {
		want := binary.AppendVarint(nil, v)
		if got := appendInt(nil, v); !bytes.Equal(got, want) {
			t.Errorf("%d is %x, want %x", v, got, want)
		}
		in := messageReader{rest: append(want, 7)}
		if got := in.int(); got != v || in.bad || len(in.rest) != 1 {
			t.Errorf("%x was read as %d, damaged: %v", want, got, in.bad)
		}
	}
	ten := bytes.Repeat([]byte{0xff}, 9)
	for _, damaged := range [][]byte{{}, {0x80}, append(ten, 2), append(ten, 0x80, 0)} {
		if in := (messageReader{rest: damaged}); in.int() != 0 || !in.bad {
			t.Errorf("%x is not damaged", damaged)
		}
	}
}

// TestEveryFieldIsSent finds a field that a message has, and that one side forgets.
func TestEveryFieldIsSent(t *testing.T) {
	for name, m := range samples() {
		failOnZeroFields(t, reflect.ValueOf(m).Elem())
		got := reflect.New(reflect.TypeOf(m).Elem()).Interface().(message)
		if err := got.Decode(m.AppendFrame(nil)[headerBytes:]); err != nil || !reflect.DeepEqual(normal(got), normal(m)) {
			t.Errorf("%s: got\n%+v, %v; want\n%+v", name, got, err, m)
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

// BenchmarkMessages measures the messages of one case, as both sides handle them.
func BenchmarkMessages(b *testing.B) {
	job := Job{Source: Item{Name: "src/a/file_0001.c", Offset: 1 << 20, Size: 70 << 10}, Path: "/usr/bin/tcc", Args: []string{"tcc", "-c", "src/a/file_0001.c", "-o", "out.o"}}
	asked := Batch{[]Job{job, job, job, job, job, job, job, job}}
	answer := Answer{
		CPU: 900 * time.Microsecond, Wall: time.Millisecond, Peak: 4000, Stdout: Output{Size: 20, Content: []byte("20 bytes of a stream")},
		Files: []Output{{Name: "out.o", Size: 20 << 10, Stored: "1"}, {Name: "out.d", Size: 9, Content: []byte("9 letters")}}, Floor: 2100, HelperCPU: time.Millisecond, BatchEnds: true,
	}
	b.Run("batch of 8/encode", func(b *testing.B) { benchmarkEncode(b, &asked) })
	b.Run("batch of 8/decode", func(b *testing.B) { benchmarkDecode(b, &asked, new(Batch)) })
	b.Run("done/encode", func(b *testing.B) { benchmarkEncode(b, &answer) })
	b.Run("done/decode", func(b *testing.B) { benchmarkDecode(b, &answer, new(Answer)) })
}

func benchmarkEncode(b *testing.B, m message) {
	b.ReportAllocs()
	var buf []byte
	for b.Loop() {
		buf = m.AppendFrame(buf)
	}
}

func benchmarkDecode(b *testing.B, m, into message) {
	b.ReportAllocs()
	text := m.AppendFrame(nil)[headerBytes:]
	for b.Loop() {
		if err := into.Decode(text); err != nil {
			b.Fatal(err)
		}
	}
}
