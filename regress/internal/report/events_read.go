package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"reflect"

	"muster/internal/readable"
	"muster/regress/internal/fault"
	"muster/regress/internal/jsonline"
)

// eventBytesMax bounds a line. An event holds only bounded differences, so a longer line is not
// muster's.
const eventBytesMax = 16 << 20

// ErrCutOff is the error for a last line that is incomplete because its run was killed.
var ErrCutOff = errors.New("the line is cut off")

// ReadEvents yields the events that NewEvents wrote. Damage ends the sequence with an Input
// error that names the line. An incomplete last line ends it with ErrCutOff, after all events
// before.
func ReadEvents(r io.Reader) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		lines := &eventLines{r: bufio.NewReaderSize(r, 64<<10)}
		err := lines.header()
		for err == nil {
			var ev Event
			if ev, err = lines.event(); err == nil && !yield(ev, nil) {
				return
			}
		}
		if err != io.EOF {
			yield(nil, err)
		}
	}
}

// eventLines reads an events file line by line.
type eventLines struct {
	r       *bufio.Reader
	number  int // number of the line that was read last, from 1
	decoder *jsonline.Decoder
}

func (l *eventLines) damaged(err error) error {
	return fault.Inputf("events, line %d: %w", l.number, err)
}

// next returns the next line without its newline, or io.EOF after the last.
func (l *eventLines) next() ([]byte, error) {
	l.number++
	var line []byte
	for {
		piece, err := l.r.ReadSlice('\n')
		line = append(line, piece...)
		switch {
		case len(line) > eventBytesMax:
			return nil, l.damaged(fmt.Errorf("longer than %s", readable.Count(eventBytesMax, "byte")))
		case err == nil:
			return bytes.TrimSuffix(line, []byte("\n")), nil
		case err == io.EOF && len(line) > 0:
			return nil, l.damaged(ErrCutOff)
		case err == io.EOF:
			return nil, err
		case err != bufio.ErrBufferFull:
			return nil, fault.Environmentf("reading events: %w", err)
		}
	}
}

func (l *eventLines) header() error {
	line, err := l.next()
	if err != nil && err != io.EOF {
		return err
	}
	var h struct {
		Type    string `json:"type"`
		Version int    `json:"version"`
	}
	if err := json.Unmarshal(line, &h); err != nil || h.Type != "events" {
		return l.damaged(errors.New("this is not an events file"))
	}
	switch h.Version {
	case 1:
		kinds := eventKinds()
		kinds["finished"] = kinds[Finished{}.kind()]
		l.decoder = jsonline.NewDecoder(kinds, "v1")
	case eventsVersion:
		l.decoder = jsonline.NewDecoder(eventKinds(), "")
	default:
		return l.damaged(fmt.Errorf("events of version %d, and this muster reads versions 1 to %d", h.Version, eventsVersion))
	}
	return nil
}

// eventKinds returns the types of all events by their kinds.
func eventKinds() map[string]reflect.Type {
	kinds := map[string]reflect.Type{}
	for _, ev := range []Event{Started{}, PassStarted{}, CaseStarted{}, CaseRan{}, Engine{}, Note{}, Case{}, NotRun{}, Group{}, Cost{}, Finished{}} {
		kinds[ev.kind()] = reflect.TypeOf(ev)
	}
	return kinds
}

func (l *eventLines) event() (Event, error) {
	line, err := l.next()
	if err != nil {
		return nil, err
	}
	ev, err := l.decoder.Line(line)
	if err != nil {
		return nil, l.damaged(err)
	}
	return ev.(Event), nil
}
