package cause

import (
	"container/heap"
	"math"
)

// chooseExamples chooses the example and the smallest case of each cause.
func (f *finder) chooseExamples(out *Found) {
	lines := make([]int, len(f.cases))
	for i, s := range f.cases {
		for _, p := range s.parts {
			for j := range p.places {
				lines[i] += int(p.places[j].lines)
			}
		}
	}
	f.chooseSmallest(out)
	covered := make([]bool, len(out.Causes))
	worth := func(i int) float64 {
		fresh := 0
		for _, c := range out.Members[i].Causes {
			if !covered[c] {
				fresh++
			}
		}
		return float64(fresh) / math.Sqrt(8+float64(lines[i]))
	}
	q := make(exemplarQueue, len(out.Members))
	for i := range q {
		q[i] = exemplar{i, worth(i)}
	}
	heap.Init(&q)
	for len(q) > 0 && q[0].worth > 0 {
		if now := worth(q[0].member); now < q[0].worth {
			q[0].worth = now
			heap.Fix(&q, 0)
			continue
		}
		m := &out.Members[q[0].member]
		for _, c := range m.Causes {
			if !covered[c] {
				covered[c] = true
				out.Causes[c].Example = m.Name
			}
		}
	}
}

// An exemplar is a case with its worth when that was last computed. Worth only falls. So the first
// case is the best if its worth has not fallen since.
type exemplar struct {
	member int
	worth  float64
}

// exemplarQueue is a heap by worth, then by name.
type exemplarQueue []exemplar

func (q exemplarQueue) Len() int { return len(q) }
func (q exemplarQueue) Less(i, j int) bool {
	return q[i].worth > q[j].worth || q[i].worth == q[j].worth && q[i].member < q[j].member
}
func (q exemplarQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *exemplarQueue) Push(x any)   { *q = append(*q, x.(exemplar)) }
func (q *exemplarQueue) Pop() any {
	last := len(*q) - 1
	x := (*q)[last]
	*q = (*q)[:last]
	return x
}

// chooseSmallest finds for each cause the case with the smallest source, preferably one that shows
// nothing else.
func (f *finder) chooseSmallest(out *Found) {
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
