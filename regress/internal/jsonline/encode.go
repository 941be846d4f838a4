package jsonline

import (
	"bytes"
	"encoding"
	"encoding/json"
	"io"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"muster/internal/readable"
	"muster/regress/internal/name"
)

// An Encoder writes objects as lines of JSON. One goroutine uses it.
type Encoder struct {
	fields fields
	buffer bytes.Buffer
	text   *json.Encoder // writes to buffer
	stack  []member      // members of the objects that are being written
}

// NewEncoder returns an Encoder.
func NewEncoder() *Encoder {
	e := &Encoder{fields: fields{}}
	e.text = json.NewEncoder(&e.buffer)
	e.text.SetEscapeHTML(false) // readers of these lines are no browsers
	return e
}

// WriteLine writes an object as one line, in one write.
func (e *Encoder) WriteLine(w io.Writer, o Object) error {
	e.buffer.Reset()
	if err := e.object(o); err != nil {
		return err
	}
	e.buffer.WriteByte('\n')
	_, err := w.Write(e.buffer.Bytes())
	return err
}

// Members returns the members of a struct.
func (e *Encoder) Members(of any) (list []Member) {
	for _, m := range e.push(nil, reflect.ValueOf(of)) {
		list = append(list, Member{m.key, m.value.Interface()})
	}
	return list
}

// member is a key with its value.
type member struct {
	key   string
	value reflect.Value
	of    *field // nil = no field
}

// push appends the members of a struct.
func (e *Encoder) push(list []member, of reflect.Value) []member {
	fields := e.fields.of(of.Type())
	for i := range fields {
		f := &fields[i]
		m := member{f.key, of.FieldByIndex(f.index), f}
		switch {
		case f.omitEmpty && isEmpty(m.value):
			continue
		case f.null && m.value.IsZero() || f.known != nil && !of.FieldByIndex(f.known).Bool():
			m.value = reflect.Value{}
		}
		list = append(list, m)
	}
	return list
}

func isEmpty(v reflect.Value) bool {
	return v.IsZero() || v.Kind() == reflect.Slice && v.Len() == 0
}

func (e *Encoder) object(o Object) error {
	start := len(e.stack)
	if o.Kind != "" {
		e.stack = append(e.stack, member{key: "type", value: reflect.ValueOf(o.Kind)})
	}
	if o.Of != nil {
		e.stack = e.push(e.stack, reflect.ValueOf(o.Of))
	}
	for _, more := range o.More {
		m := member{key: more.Key, value: reflect.ValueOf(more.Value)}
		if i := find(e.stack[start:], m.key); i >= 0 {
			e.stack[start+i] = m
		} else {
			e.stack = append(e.stack, m)
		}
	}
	if i := find(e.stack[start:], o.Omit); i >= 0 {
		e.stack = slices.Delete(e.stack, start+i, start+i+1)
	}
	sort(e.stack[start+min(1, len(o.Kind)):], o.First)
	return e.pop(start)
}

func find(list []member, key string) int {
	return slices.IndexFunc(list, func(m member) bool { return m.key == key })
}

// sort moves the keys of first to the front, in their order.
func sort(list []member, first string) {
	for key := range strings.FieldsSeq(first) {
		if i := find(list, key); i >= 0 {
			m := list[i]
			copy(list[1:], list[:i])
			list[0] = m
			list = list[1:]
		}
	}
}

// pop writes the members from start on as an object, and takes them from the stack.
func (e *Encoder) pop(start int) error {
	e.buffer.WriteByte('{')
	for i := start; i < len(e.stack); i++ {
		if i > start {
			e.buffer.WriteByte(',')
		}
		m := e.stack[i]
		e.buffer.WriteByte('"')
		e.buffer.WriteString(m.key)
		e.buffer.WriteString(`":`)
		if err := e.value(m.value, m.of != nil && m.of.name); err != nil {
			return err
		}
	}
	e.buffer.WriteByte('}')
	e.stack = e.stack[:start]
	return nil
}

// value writes a value, whose strings may be names.
func (e *Encoder) value(v reflect.Value, isName bool) error {
	switch kind := v.Kind(); {
	case kind == reflect.Invalid || (kind == reflect.Pointer || kind == reflect.Interface) && v.IsNil():
		e.buffer.WriteString("null")
	case kind == reflect.Pointer || kind == reflect.Interface:
		return e.value(v.Elem(), isName)
	case kind == reflect.Slice:
		return e.list(v, isName)
	case kind == reflect.Bool:
		e.buffer.Write(strconv.AppendBool(e.buffer.AvailableBuffer(), v.Bool()))
	case kind == reflect.Float64:
		e.number(v.Float())
	case kind == reflect.String && isName:
		return e.string(name.Print(v.String()))
	case kind == reflect.String:
		return e.string(readable.Text(v.String()))
	case v.Type() == reflect.TypeFor[time.Duration]():
		e.number(float64(v.Int()) / float64(time.Millisecond))
	case v.CanInt() && v.Type().PkgPath() == "":
		e.buffer.Write(strconv.AppendInt(e.buffer.AvailableBuffer(), v.Int(), 10))
	default:
		return e.special(v)
	}
	return nil
}

// special writes a struct, or a value of a type with methods.
func (e *Encoder) special(v reflect.Value) error {
	switch known := v.Interface().(type) {
	case Object:
		return e.object(known)
	case time.Time:
		return e.string(known.UTC().Format(time.RFC3339Nano))
	case json.Marshaler:
		text, err := known.MarshalJSON()
		e.buffer.Write(text)
		return err
	case encoding.TextMarshaler:
		text, err := known.MarshalText()
		if err != nil {
			return err
		}
		return e.string(string(text))
	}
	if v.Kind() == reflect.Struct {
		start := len(e.stack)
		e.stack = e.push(e.stack, v)
		return e.pop(start)
	}
	e.buffer.Write(strconv.AppendInt(e.buffer.AvailableBuffer(), v.Int(), 10))
	return nil
}

func (e *Encoder) list(v reflect.Value, isName bool) error {
	e.buffer.WriteByte('[')
	for i := range v.Len() {
		if i > 0 {
			e.buffer.WriteByte(',')
		}
		if err := e.value(v.Index(i), isName); err != nil {
			return err
		}
	}
	e.buffer.WriteByte(']')
	return nil
}

func (e *Encoder) string(text string) error {
	err := e.text.Encode(text)
	e.buffer.Truncate(e.buffer.Len() - 1) // Encode ends with a newline
	return err
}

// number writes 0 for values that JSON lacks.
func (e *Encoder) number(x float64) {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		x = 0
	}
	e.buffer.Write(strconv.AppendFloat(e.buffer.AvailableBuffer(), x, 'f', -1, 64))
}
