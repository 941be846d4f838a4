// Package jsonline writes structs as lines of JSON, and reads them back. The tags of the fields
// give the keys:
//
//	Name    string        `line:"name,name"`
//	Took    time.Duration `line:"took_ms" v1:"took"`
//
// A duration is a number of milliseconds, exact to the nanosecond up to 26 days. A string is
// printable text, or a printed name with the option "name". The field v1 gives the key of an
// earlier version. A field without a tag has no key. Embedded fields without a tag are part of
// their struct.
//
// It must not know any event, nor open a file.
package jsonline

import (
	"reflect"
	"slices"
	"strings"
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

// fields finds the fields of structs by one kind of tag.
type fields struct {
	tags  []string // the first of these that a field has gives its key
	found map[reflect.Type][]field
}

func newFields(tags ...string) fields { return fields{tags, map[reflect.Type][]field{}} }

// of returns the fields of a struct type that have keys.
func (f fields) of(t reflect.Type) []field {
	list, found := f.found[t]
	if !found {
		list = f.inspect(t)
		f.found[t] = list
	}
	return list
}

func (f fields) inspect(t reflect.Type) (list []field) {
	for i := range t.NumField() {
		structField := t.Field(i)
		tag := f.tag(structField)
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

func (f fields) tag(structField reflect.StructField) string {
	for _, tag := range f.tags {
		if text := structField.Tag.Get(tag); text != "" {
			return text
		}
	}
	return ""
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
