package lane

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"runtime"
	"testing"
	"testing/iotest"
)

// message is implemented by every kind of message.
type message interface {
	AppendFrame([]byte) []byte
	Decode([]byte) error
}

// kinds makes an empty message of each kind.
var kinds = []func() message{
	func() message { return new(Setup) },
	func() message { return new(Ready) },
	func() message { return new(Batch) },
	func() message { return new(Answer) },
}

// normal replaces nil lists by empty ones.
func normal(m message) message {
	switch m := m.(type) {
	case *Setup:
		m.Env, m.Given = append([]string{}, m.Env...), append([]Item{}, m.Given...)
		m.Visible = append([]string{}, m.Visible...)
	case *Batch:
		m.Jobs = append([]Job{}, m.Jobs...)
		for i := range m.Jobs {
			m.Jobs[i].Args = append([]string{}, m.Jobs[i].Args...)
		}
	case *Answer:
		m.Files = append([]Output{}, m.Files...)
		m.Stdout.Content, m.Stderr.Content = append([]byte{}, m.Stdout.Content...), append([]byte{}, m.Stderr.Content...)
		for i := range m.Files {
			m.Files[i].Content = append([]byte{}, m.Files[i].Content...)
		}
	}
	return m
}

// FuzzDecode checks that no bytes make a reader panic, or take memory beyond a small multiple
// of their number. Bytes that decode must encode to the same message.
func FuzzDecode(f *testing.F) {
	d := Answer{Kind: TimedOut, Code: 3, Stdout: Output{Content: []byte("x")}, Files: []Output{{Name: "a", Stored: "1"}, {Name: "b", Form: Gone}}}
	s := Setup{Root: "/r", Env: []string{"A=B"}, Given: []Item{{Name: "h", Size: 3}}}
	j := Batch{[]Job{{Source: Item{Name: "n", Path: "p"}, Path: "/bin/true", Args: []string{"true", "n"}}, {}}}
	r := Ready{Fault: "f", Floor: 2000}
	for _, m := range []message{&s, &r, &j, &d} {
		f.Add(m.AppendFrame(nil)[headerBytes:])
	}
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, empty := range kinds {
			m := empty()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := m.Decode(b)
			runtime.ReadMemStats(&after)
			if took, most := after.TotalAlloc-before.TotalAlloc, uint64(48*len(b)+1<<16); took > most {
				t.Errorf("%d bytes made %T take %d", len(b), m, took)
			}
			if err == nil {
				again := empty()
				if err := again.Decode(m.AppendFrame(nil)[headerBytes:]); err != nil || !reflect.DeepEqual(m, again) {
					t.Errorf("%#v became %#v, %v", m, again, err)
				}
			}
		}
	})
}

// TestDamagedMessages checks that a message that was cut or extended does not decode.
func TestDamagedMessages(t *testing.T) {
	full := Answer{Fault: "f", Stdout: Output{Name: "n", Content: []byte("x")}, Files: []Output{{Name: "a"}, {Name: "b", Stored: "1"}}}
	whole := full.AppendFrame(nil)[headerBytes:]
	for i := range whole {
		if new(Answer).Decode(whole[:i]) == nil {
			t.Errorf("a message decodes after %d of %d bytes", i, len(whole))
		}
	}
	if new(Answer).Decode(append(bytes.Clone(whole), 0)) == nil {
		t.Error("a message decodes with a further byte")
	}
	for _, d := range []Answer{
		{Kind: OutputLimit + 1}, {Kind: -1}, {Stdout: Output{Form: Gone + 1}}, {Stderr: Output{Size: -1}},
		{Files: []Output{{Stored: "../../etc/passwd"}}},
	} {
		if new(Answer).Decode(d.AppendFrame(nil)[headerBytes:]) == nil {
			t.Errorf("%+v decodes", d)
		}
	}
}

// TestFrames distinguishes the ends of a stream, and checks that a header with a false length
// takes no memory.
func TestFrames(t *testing.T) {
	frame := (&Ready{Fault: "some words"}).AppendFrame(nil)
	for i := range frame {
		want := io.ErrUnexpectedEOF
		if i == 0 {
			want = io.EOF
		}
		var f Frames
		if _, err := f.Next(bytes.NewReader(frame[:i]).Read); err != want {
			t.Errorf("cut after %d bytes: %v, want %v", i, err, want)
		}
	}
	var f Frames
	r := bytes.NewReader(append(bytes.Clone(frame), 'x'))
	if m, err := f.Next(r.Read); err != nil || len(m) != len(frame)-headerBytes {
		t.Errorf("with a further byte: %d bytes, %v", len(m), err)
	}
	if _, err := f.Next(r.Read); err != io.ErrUnexpectedEOF {
		t.Errorf("the byte after a message does not begin the next one: %v", err)
	}
	f = Frames{}
	if _, err := f.Next(bytes.NewReader([]byte{0, 0, 0, 0xff}).Read); err != errDamaged {
		t.Errorf("a message of 4 GB: %v", err)
	}
	f = Frames{}
	broken := errors.New("broken")
	if _, err := f.Next(iotest.ErrReader(broken).Read); err != broken {
		t.Errorf("a broken stream: %v", err)
	}
	f = Frames{}
	if _, err := f.Next(bytes.NewReader([]byte{0, 0, 0, 0x40, 'x'}).Read); err != io.ErrUnexpectedEOF || len(f.buf) > bufferBytesMin {
		t.Errorf("a message of 1 GB that does not arrive: %v, and a buffer of %d", err, len(f.buf))
	}
}

// TestFramesShrink checks that a large message does not stay in memory.
func TestFramesShrink(t *testing.T) {
	large := (&Ready{Fault: string(make([]byte, 1<<20))}).AppendFrame(nil)
	small := (&Ready{}).AppendFrame(nil)
	var f Frames
	if m, err := f.Next(bytes.NewReader(large).Read); err != nil || len(m) != len(large)-headerBytes {
		t.Fatalf("%d bytes, %v", len(m), err)
	}
	if _, err := f.Next(bytes.NewReader(small).Read); err != nil || len(f.buf) > bufferBytesKept {
		t.Errorf("%d bytes are kept, %v", len(f.buf), err)
	}
}
