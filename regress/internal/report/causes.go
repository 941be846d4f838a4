package report

import (
	"fmt"

	"muster/internal/readable"
	"muster/regress/internal/cause"
)

// CauseCount counts the causes of a run.
type CauseCount struct {
	alone   int // causes with a line of their own
	buckets int // lines that stand for several causes each
	folded  int // the causes in them
}

// CountCauses counts causes.
func CountCauses(causes []cause.Cause) (n CauseCount) {
	for i := range causes {
		n.add(&causes[i])
	}
	return n
}

func (n *CauseCount) add(c *cause.Cause) {
	if folded := c.Bucketed(); folded > 0 {
		n.buckets, n.folded = n.buckets+1, n.folded+folded
		return
	}
	n.alone++
}

// String says how many causes there are, and how many of them are in buckets.
func (n CauseCount) String() string {
	if n.buckets == 0 {
		return readable.Count(n.alone, "cause")
	}
	return fmt.Sprintf("%s: %s shown, %s folded into %s", readable.Count(n.alone+n.folded, "cause"), readable.Number(n.alone), readable.Number(n.folded), readable.Count(n.buckets, "bucket"))
}
