package document

import (
	"bytes"
	"regexp"
)

// message matches the beginning of a diagnostic: a file, perhaps with a drive, a line, perhaps a column, and then what is
// wrong.
var message = regexp.MustCompile(`^((?:[A-Za-z]:[\\/])?\S[^:\n]*|-):(\d+)(?::(\d+))?: (\S)`)

// headMax is how much of a line is searched for the message, in bytes. A line may be a whole program.
const headMax = 4096

// parseMessages returns the lines of a text, and whether most of them are diagnostics. It returns nil
// once too few lines are diagnostics, or more than a document may have.
func parseMessages(text []byte) (all *Node, ok bool) {
	all = &Node{Kind: Messages, To: len(text)}
	found, at := 0, 0
	for line := range bytes.Lines(text) {
		from := at
		at += len(line)
		trimmed := bytes.TrimSpace(line)
		if len(trimmed) == 0 {
			continue
		}
		n := Node{Kind: Sentence, From: from + bytes.Index(line, trimmed)}
		n.To = n.From + len(trimmed)
		if m := message.FindSubmatchIndex(trimmed[:min(len(trimmed), headMax)]); m != nil {
			m[1], m[len(m)-1] = len(trimmed), len(trimmed)
			n = diagnostic(text, n.From, m)
			found++
		} else {
			n.digest(text)
			n.shape = sumWithoutDigits(trimmed)
		}
		if len(all.Items)-found > 2*found+othersMax || found > nodesMax/partsMax {
			return nil, false
		}
		all.Items = append(all.Items, n)
	}
	all.digest(text)
	return all, found > 0 && 2*found >= len(all.Items)
}

// Message returns the words of a line.
func (n *Node) Message() Node {
	if last := len(n.Items) - 1; last >= 0 {
		return n.Items[last]
	}
	return *n
}

const (
	// othersMax is how many other lines a text may have before the first diagnostic, beside two for each.
	othersMax = 20
	partsMax  = 5 // nodes of a diagnostic
)

// diagnostic returns the value of a line that begins at from. m has the places of its parts in the line.
func diagnostic(text []byte, from int, m []int) Node {
	n := Node{Kind: Object, From: from + m[0], To: from + m[1]}
	for i, key := range []string{"file", "line", "column", "message"} {
		a, b := m[2*i+2], m[2*i+3]
		if a < 0 {
			continue // no column
		}
		part := Node{Kind: Sentence, From: from + a, To: from + b, Key: []byte(key)}
		if key == "line" || key == "column" {
			part.Kind = Literal
		}
		part.digest(text)
		n.Items = append(n.Items, part)
	}
	n.digest(text)
	return n
}
