package cause

// words numbers strings. The empty string is 0.
type words struct {
	numbers map[string]int32
	list    []string
}

func newWords() *words { return &words{map[string]int32{"": 0}, []string{""}} }

func (w *words) index(b []byte) int32 {
	if n, known := w.numbers[string(b)]; known {
		return n
	}
	return w.add(string(b))
}

func (w *words) add(s string) int32 {
	n, known := w.numbers[s]
	if !known {
		n = int32(len(w.list))
		w.numbers[s] = n
		w.list = append(w.list, s)
	}
	return n
}
