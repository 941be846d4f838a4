package cause

import "math"

// exemplars chooses the cases that show the causes best, and the smallest.
func (f *finder) exemplars(out *Found) {
	lines := make([]int, len(f.cases))
	for i, s := range f.cases {
		for _, p := range s.parts {
			for j := range p.places {
				lines[i] += int(p.places[j].lines)
			}
		}
	}
	f.smallest(out)
	covered := make([]bool, len(out.Causes))
	for left := len(out.Causes); left > 0; {
		best, most := -1, 0.0
		for i, m := range out.Members {
			fresh := 0
			for _, c := range m.Causes {
				if !covered[c] {
					fresh++
				}
			}
			if v := float64(fresh) / math.Sqrt(8+float64(lines[i])); v > most {
				best, most = i, v
			}
		}
		if best < 0 {
			return
		}
		for _, c := range out.Members[best].Causes {
			if !covered[c] {
				covered[c] = true
				out.Causes[c].Example = out.Members[best].Name
				left--
			}
		}
	}
}

// smallest finds of each cause the case with the smallest source, one that shows
// nothing else if there is one.
func (f *finder) smallest(out *Found) {
	size := make([]int64, len(out.Causes))
	for i, m := range out.Members {
		s, sole := f.cases[i].size, len(m.Causes) == 1
		for _, c := range m.Causes {
			k := &out.Causes[c]
			if k.Smallest == "" || s < size[c] && (sole || k.Sole == 0) || sole && k.Sole == 0 {
				k.Smallest, size[c] = m.Name, s
			}
			if sole {
				k.Sole++
			}
		}
	}
}
