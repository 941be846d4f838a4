package outcome

import "testing"

// left returns an outcome whose run left files of these names, each with a content.
func left(content byte, names ...string) *Outcome {
	o := &Outcome{Parts: []Part{{Key: Key{Place: Stdout}, Digest: Digest{1}}}}
	for _, name := range names {
		o.Parts = append(o.Parts, Part{Key: Key{File, name}, Size: 1, Digest: Digest{content}})
	}
	o.Sort()
	return o
}

// Files whose names vary are compared with those whose names fit, in any number.
func TestNamesThatVary(t *testing.T) {
	for name, c := range map[string]struct {
		first, second, now *Outcome
		want               int // differing parts
	}{
		"another name":         {left(1, "tmp.aaaa11"), left(1, "tmp.bbbb22"), left(1, "tmp.cccc33"), 0},
		"the same name":        {left(1, "tmp.aaaa11"), left(1, "tmp.bbbb22"), left(1, "tmp.bbbb22"), 0},
		"another content":      {left(1, "tmp.aaaa11"), left(1, "tmp.bbbb22"), left(2, "tmp.cccc33"), 1},
		"no file":              {left(1, "tmp.aaaa11"), left(1, "tmp.bbbb22"), left(1), 1},
		"one too many":         {left(1, "tmp.aaaa11"), left(1, "tmp.bbbb22"), left(1, "tmp.cccc33", "tmp.dddd44"), 1},
		"a name that fits not": {left(1, "tmp.aaaa11"), left(1, "tmp.bbbb22"), left(1, "log.cccc33"), 2},
		"two each":             {left(1, "tmp.aaaa11", "tmp.bbbb22"), left(1, "tmp.cccc33", "tmp.dddd44"), left(1, "tmp.eeee55", "tmp.ffff66"), 0},
		"one of two":           {left(1, "tmp.aaaa11", "tmp.bbbb22"), left(1, "tmp.cccc33", "tmp.dddd44"), left(1, "tmp.eeee55"), 1},
		"beside a stable one":  {left(1, "tmp.aaaa11", "tmp.cccc33"), left(1, "tmp.bbbb22", "tmp.cccc33"), left(1, "tmp.cccc33", "tmp.dddd44"), 0},
		"now and then":         {left(1, "tmp.aaaa11"), left(1), left(1), 0},
		"names that are words": {left(1, "first.log"), left(1, "later.log"), left(1, "third.log"), 1},
	} {
		equal := func(o, n Part) (bool, error) {
			for _, v := range append(o.Variants, Variant{Digest: o.Digest}) {
				if v.Digest == n.Digest {
					return true, nil
				}
			}
			return false, nil
		}
		if _, err := Merge(c.first, c.second, equal); err != nil {
			t.Fatal(err)
		}
		got, err := Compare(c.first, c.now, equal)
		if err != nil || len(got.Parts) != c.want || got.Identical() != (c.want == 0) {
			t.Errorf("%s: %+v, %v", name, got.Parts, err)
		}
	}
}
