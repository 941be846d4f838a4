package name

import (
	"reflect"
	"time"
)

// PrintIn puts every string in *v into printed form, for JSON, which cannot hold raw bytes. It converts
// times to UTC. It copies what slices and pointers lead to, and changes the copy. Maps, bytes and
// unexported fields stay as they are.
func PrintIn[T any](v *T) {
	_ = replaceIn(reflect.ValueOf(v).Elem(), true, printed, nil) // Print cannot fail
}

// Printed is like PrintIn for the fields with the tag name:"printed" and what they hold. It replaces
// every other string by what text returns for it. It returns the copy.
func Printed(v any, text func(string) string) any {
	own := reflect.New(reflect.TypeOf(v)).Elem()
	own.Set(reflect.ValueOf(v))
	_ = replaceIn(own, false, printed, text)
	return own.Interface()
}

func printed(s string) (string, error) { return Print(s), nil }

// ParseIn is the inverse of PrintIn.
func ParseIn[T any](v *T) error { return replaceIn(reflect.ValueOf(v).Elem(), true, Parse, nil) }

// replaceIn replaces strings: by f those of tagged fields, or all if isName is set, the others by text if it
// is not nil.
func replaceIn(v reflect.Value, isName bool, f func(string) (string, error), text func(string) string) error {
	switch v.Kind() {
	case reflect.String:
		if !isName {
			if text != nil {
				v.SetString(text(v.String()))
			}
			return nil
		}
		s, err := f(v.String())
		if err == nil {
			v.SetString(s)
		}
		return err
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			at, _ := reflect.TypeAssert[time.Time](v)
			v.Set(reflect.ValueOf(at.UTC()))
			return nil
		}
		for i := range v.NumField() {
			field := v.Type().Field(i)
			if !field.IsExported() && !field.Anonymous {
				continue
			}
			if err := replaceIn(v.Field(i), isName || field.Tag.Get("name") == "printed", f, text); err != nil {
				return err
			}
		}
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		own := reflect.New(v.Type().Elem())
		own.Elem().Set(v.Elem())
		v.Set(own)
		return replaceIn(own.Elem(), isName, f, text)
	case reflect.Slice:
		if v.IsNil() || v.Type().Elem().Kind() == reflect.Uint8 {
			return nil
		}
		own := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(own, v)
		v.Set(own)
		for i := range own.Len() {
			if err := replaceIn(own.Index(i), isName, f, text); err != nil {
				return err
			}
		}
	}
	return nil
}
