// Package jsonline writes structs as lines of JSON, and reads them back. The tags of the fields
// give the keys:
//
//	Name    string        `line:"name,name"`
//	Took    time.Duration `line:"took_ms"`
//
// A duration is a number of milliseconds, exact to the nanosecond up to 26 days. A string is
// printable text, or a printed name with the option "name". A field without a
// tag has no key. Embedded fields without a tag are part of
// their struct.
//
// It must not know any event, nor open a file.
package jsonline

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"muster/regress/internal/name"
)

// An Object is a struct with further members and an order of its keys.
type Object struct {
	Kind  string   // value of the key "type"; "" omits it
	Of    any      // struct with tags
	More  []Member // further members; one with the key of a field replaces the field
	First string   // keys that come first, separated by spaces; the others keep their order
	Omit  string   // key of a field that is omitted
}

// A Member is a key with its value.
type Member struct {
	Key   string
	Value any
}

// field is a field of a struct, as its tag describes it.
type field struct {
	index []int // as in reflect.Value.FieldByIndex
	key   string
	options
}

type options struct {
	name      bool  // strings are names
	omitEmpty bool  // a zero value is omitted
	null      bool  // a zero value is null
	known     []int // index of a bool field; nil = always known. An unknown value is null
}

// fields has the fields of the structs that were inspected so far.
type fields map[reflect.Type][]field

// of returns the fields of a struct type that have keys.
func (f fields) of(t reflect.Type) []field {
	list, found := f[t]
	if !found {
		list = f.inspect(t)
		f[t] = list
	}
	return list
}

func (f fields) inspect(t reflect.Type) (list []field) {
	for i := range t.NumField() {
		structField := t.Field(i)
		tag := structField.Tag.Get("line")
		key, rest, _ := strings.Cut(tag, ",")
		words := strings.Split(rest, ",")
		switch {
		case slices.Contains(words, "inline") || tag == "" && structField.Anonymous:
			for _, inner := range f.of(structField.Type) {
				inner.index = slices.Concat([]int{i}, inner.index)
				if inner.known != nil {
					inner.known = slices.Concat([]int{i}, inner.known)
				}
				inner.key = key + inner.key
				list = append(list, inner)
			}
		case tag != "":
			list = append(list, field{[]int{i}, key, parse(words, t)})
		}
	}
	return list
}

// parse reads the options of a tag of the struct type t.
func parse(words []string, t reflect.Type) (o options) {
	for _, word := range words {
		switch option, of, _ := strings.Cut(word, "="); option {
		case "name":
			o.name = true
		case "omitempty":
			o.omitEmpty = true
		case "null":
			o.null = true
		case "known":
			known, _ := t.FieldByName(of)
			o.known = known.Index
		}
	}
	return o
}

// A Decoder reads lines as structs. It ignores keys that it does not know, and leaves fields
// as they are whose keys are missing or null. One goroutine uses it.
type Decoder struct {
	fields fields
	kinds  map[string]reflect.Type
}

// NewDecoder returns a Decoder of lines with these types.
func NewDecoder(kinds map[string]reflect.Type) *Decoder { return &Decoder{fields{}, kinds} }

// Line returns the struct of a line, a value of the type that stands for its kind.
func (d *Decoder) Line(line []byte) (any, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(line, &members); err != nil {
		return nil, err
	}
	var kind string
	if err := decode(members["type"], &kind); err != nil {
		return nil, err
	}
	t, known := d.kinds[kind]
	if !known {
		return nil, fmt.Errorf("type %q is not known", kind)
	}
	v := reflect.New(t).Elem()
	err := d.object(members, v)
	return v.Interface(), err
}

func (d *Decoder) object(members map[string]json.RawMessage, to reflect.Value) error {
	for _, f := range d.fields.of(to.Type()) {
		raw := members[f.key]
		if len(raw) == 0 || string(raw) == "null" {
			continue
		}
		if err := d.value(raw, to.FieldByIndex(f.index), f.options); err != nil {
			return err
		}
		if f.known != nil {
			to.FieldByIndex(f.known).SetBool(true)
		}
	}
	return nil
}

func (d *Decoder) value(raw json.RawMessage, to reflect.Value, o options) error {
	_, special := to.Addr().Interface().(json.Unmarshaler)
	switch kind := to.Kind(); {
	case kind == reflect.Pointer:
		to.Set(reflect.New(to.Type().Elem()))
		return d.value(raw, to.Elem(), o)
	case kind == reflect.Slice:
		return d.list(raw, to, o)
	case kind == reflect.Struct && !special:
		var members map[string]json.RawMessage
		if err := decode(raw, &members); err != nil {
			return err
		}
		return d.object(members, to)
	case kind == reflect.String && o.name:
		return decodeName(raw, to)
	case to.Type() == reflect.TypeFor[time.Duration]():
		return decodeDuration(raw, to)
	}
	return decode(raw, to.Addr().Interface())
}

func (d *Decoder) list(raw json.RawMessage, to reflect.Value, o options) error {
	var elements []json.RawMessage
	if err := decode(raw, &elements); err != nil {
		return err
	}
	if len(elements) > 0 {
		to.Set(reflect.MakeSlice(to.Type(), len(elements), len(elements)))
	}
	for i, element := range elements {
		if err := d.value(element, to.Index(i), o); err != nil {
			return err
		}
	}
	return nil
}

func decode(raw json.RawMessage, to any) error {
	if len(raw) == 0 {
		return nil
	}
	return json.Unmarshal(raw, to)
}

func decodeName(raw json.RawMessage, to reflect.Value) error {
	var text string
	if err := decode(raw, &text); err != nil {
		return err
	}
	parsed, err := name.Parse(text)
	to.SetString(parsed)
	return err
}

func decodeDuration(raw json.RawMessage, to reflect.Value) error {
	var ms float64
	if err := decode(raw, &ms); err != nil {
		return err
	}
	nanos := math.Round(ms * float64(time.Millisecond))
	if math.Abs(nanos) > math.MaxInt64/2 {
		return fmt.Errorf("%s ms is too long for a duration", raw)
	}
	to.SetInt(int64(nanos))
	return nil
}
