package name

import (
	"reflect"
	"time"
)

// PrintIn puts every string in *v into printed form, for JSON, which cannot hold raw bytes. It converts
// times to UTC. It copies what slices and pointers lead to, and changes the copy. Maps, bytes and
// unexported fields stay as they are.
func PrintIn[T any](v *T) {
	_ = replaceIn(reflect.ValueOf(v).Elem(), func(s string) (string, error) { return Print(s), nil }) // Print cannot fail
}

// ParseIn is the inverse of PrintIn.
func ParseIn[T any](v *T) error { return replaceIn(reflect.ValueOf(v).Elem(), Parse) }

func replaceIn(v reflect.Value, f func(string) (string, error)) error {
	switch v.Kind() {
	case reflect.String:
		s, err := f(v.String())
		if err == nil {
			v.SetString(s)
		}
		return err
	case reflect.Struct:
		if at, is := reflect.TypeAssert[time.Time](v); is {
			v.Set(reflect.ValueOf(at.UTC()))
			return nil
		}
		for i := range v.NumField() {
			if !v.Field(i).CanSet() {
				continue
			}
			if err := replaceIn(v.Field(i), f); err != nil {
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
		return replaceIn(own.Elem(), f)
	case reflect.Slice:
		if v.IsNil() || v.Type().Elem().Kind() == reflect.Uint8 {
			return nil
		}
		own := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(own, v)
		v.Set(own)
		for i := range own.Len() {
			if err := replaceIn(own.Index(i), f); err != nil {
				return err
			}
		}
	}
	return nil
}
