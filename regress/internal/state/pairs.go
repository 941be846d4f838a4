package state

import (
	"encoding/json"

	"muster/regress/internal/fault"
)

// Pair is the cost of a case under both commands, run one right after the other.
type Pair struct {
	Name []byte `json:"name"`
	Old  Took   `json:"old"`
	New  Took   `json:"new"`
}

// Took is the cost of one run.
type Took struct {
	CPU  int64 `json:"cpu_ns"`
	Wall int64 `json:"wall_ns"`
	Peak int64 `json:"peak_kib"`
}

// Pairs appends to a run's pairs.jsonl. --resume reads it, so that an interruption does not
// change the figures of the cost. One goroutine uses it at a time.
type Pairs struct{ journal }

// OpenPairs returns the pairs of an interrupted run, and opens the file for more.
func (r *Run) OpenPairs() (*Pairs, []Pair, error) {
	path := r.File("pairs.jsonl")
	pairs, whole, err := readJournal[Pair](path)
	if err != nil {
		return nil, nil, fault.Environmentf("state of run %s: %w", r.ID, err)
	}
	j, err := openJournal(path, whole)
	if err != nil {
		return nil, nil, fault.Environmentf("state of run %s: %w", r.ID, err)
	}
	return &Pairs{j}, pairs, nil
}

// Add appends a pair. The pair reaches the file with the next Flush at the latest.
func (p *Pairs) Add(pair Pair) error {
	text, err := json.Marshal(pair)
	if err == nil {
		_, err = p.buf.Write(append(text, '\n'))
	}
	if err != nil {
		return fault.Environmentf("state of the run: %w", err)
	}
	return nil
}
