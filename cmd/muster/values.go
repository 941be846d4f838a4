package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"muster/regress"
)

// size is a flag's number of bytes: 4096, 64K, 50M, 1G, 2T.
type size int64

func newSize(p *int64, value int64) *size {
	*p = value
	return (*size)(p)
}

const sizeUnits = "KMGT"

func (s *size) Set(text string) error {
	digits, unit := text, ""
	if n := len(text); n > 0 && strings.Contains(sizeUnits, strings.ToUpper(text[n-1:])) {
		digits, unit = text[:n-1], strings.ToUpper(text[n-1:])
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	shift := 0
	if unit != "" {
		shift = 10 * (1 + strings.Index(sizeUnits, unit))
	}
	if err != nil || n < 0 || n > math.MaxInt64>>shift {
		return fmt.Errorf("%q is not a size: sizes are 4096, 64K, 50M, 1G", text)
	}
	*s = size(n << shift)
	return nil
}

func (s *size) Type() string { return "SIZE" }

func (s *size) String() string {
	n, unit := int64(*s), ""
	for _, u := range sizeUnits {
		if n == 0 || n%1024 != 0 {
			break
		}
		n, unit = n/1024, string(u)
	}
	return strconv.FormatInt(n, 10) + unit
}

// format is a flag's output format.
type format regress.Format

func newFormat(p *regress.Format) *format {
	*p = regress.Text
	return (*format)(p)
}

func (f *format) Set(text string) error {
	switch regress.Format(text) {
	case regress.Text, regress.JSON:
		*f = format(text)
		return nil
	}
	return fmt.Errorf("%q is not a format: text or json", text)
}

func (f *format) Type() string   { return "FORMAT" }
func (f *format) String() string { return string(*f) }
