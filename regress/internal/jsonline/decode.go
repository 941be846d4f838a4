package jsonline

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"time"

	"muster/regress/internal/name"
)

// A Decoder reads lines as structs. It ignores keys that it does not know, and leaves fields
// as they are whose keys are missing or null. One goroutine uses it.
type Decoder struct {
	fields fields
	kinds  map[string]reflect.Type
}

// NewDecoder returns a Decoder of lines with these types. Version is the tag with keys of an
// earlier version; "" is the present version.
func NewDecoder(kinds map[string]reflect.Type, version string) *Decoder {
	return &Decoder{newFields(version, "line"), kinds}
}

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
