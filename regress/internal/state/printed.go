package state

import (
	"encoding/json"
	"reflect"

	"muster/regress/internal/fault"
	"muster/regress/internal/name"
)

// Encode returns v as JSON, with every string in printed form. Names, paths and arguments are
// raw bytes, which JSON cannot hold.
func Encode[T any](v T) (json.RawMessage, error) {
	err := replaceStrings(reflect.ValueOf(&v).Elem(), func(s string) (string, error) { return name.Print(s), nil })
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(v)
	if err != nil {
		return nil, fault.Environmentf("keep the run: %w", err)
	}
	return text, nil
}

// Decode is the inverse of Encode.
func Decode[T any](text json.RawMessage) (v T, err error) {
	if err = json.Unmarshal(text, &v); err == nil {
		err = replaceStrings(reflect.ValueOf(&v).Elem(), name.Parse)
	}
	return v, err
}

// replaceStrings replaces every string in v by f of it. It copies slices first.
func replaceStrings(v reflect.Value, f func(string) (string, error)) error {
	switch v.Kind() {
	case reflect.String:
		s, err := f(v.String())
		if err == nil {
			v.SetString(s)
		}
		return err
	case reflect.Struct:
		for i := range v.NumField() {
			if !v.Field(i).CanSet() {
				continue
			}
			if err := replaceStrings(v.Field(i), f); err != nil {
				return err
			}
		}
	case reflect.Slice:
		if v.IsNil() {
			return nil
		}
		own := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(own, v)
		v.Set(own)
		for i := range own.Len() {
			if err := replaceStrings(own.Index(i), f); err != nil {
				return err
			}
		}
	}
	return nil
}
