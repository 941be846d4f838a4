// Package document knows texts of two kinds. JSON is one value, or several one after the other, as in JSON
// Lines. Diagnostics are lines such as file:12:3: message. It parses them, and finds what differs between two
// of one kind by their structure: members by their keys, elements of lists by what they contain.
//
// Input: texts. Output: changes with the byte ranges and the paths of values. It is pure, and must not name
// changes: package edit makes patterns of them.
package document

// ParseBoth returns the values of two texts. It returns false if they are not of one kind. If most lines of one
// are diagnostics, the other may be any lines: a tool may have nothing to say.
func ParseBoth(old, now []byte) (a, b *Node, ok bool) {
	a, ok = parseJSON(old)
	if ok {
		b, ok = parseJSON(now)
		return a, b, ok
	}
	a, isOld := parseMessages(old)
	b, isNow := parseMessages(now)
	return a, b, a != nil && b != nil && (isOld || isNow)
}
