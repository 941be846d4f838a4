package main

import (
	"testing"

	"muster/regress"
)

func TestSize(t *testing.T) {
	for text, want := range map[string]int64{
		"4096": 4096, "64K": 64 << 10, "64k": 64 << 10, "50M": 50 << 20, "1G": 1 << 30, "2T": 2 << 40,
		"9223372036854775807": 1<<63 - 1, "8388607T": 8388607 << 40,
	} {
		var n, again int64
		s := size{&n, 0}
		if err := s.Set(text); err != nil || n != want {
			t.Errorf("%q is %d, %v; want %d", text, n, err, want)
		}
		if err := (&size{&again, 0}).Set(s.String()); err != nil || again != n {
			t.Errorf("%q is printed as %q, which is %d, %v", text, &s, again, err)
		}
	}
	for _, text := range []string{"", "0", "0K", "K", "-1", "-1K", "1.5G", "1KB", "1 K", "K1", "1KK", "0x10", "1e3", "9223372036854775808", "8388608T", "１"} {
		n := int64(7)
		if err := (&size{&n, 0}).Set(text); err == nil || n != 7 {
			t.Errorf("%q is taken for %d", text, n)
		}
	}
	var none int64
	if err := (&size{&none, regress.NoLimit}).Set("0"); err != nil || none != regress.NoLimit {
		t.Errorf("no limit is %d, %v", none, err)
	}
}

func TestSizeString(t *testing.T) {
	for n, want := range map[int64]string{0: "", -1: "0", 1: "1", 1023: "1023", 1024: "1K", 1536: "1536", 64 << 20: "64M", 3 << 30: "3G", 5 << 40: "5T", 5 << 50: "5120T"} {
		if got := (&size{&n, 0}).String(); got != want {
			t.Errorf("%d is printed as %q, want %q", n, got, want)
		}
	}
}
