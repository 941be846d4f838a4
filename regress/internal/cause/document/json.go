package document

import "bytes"

const (
	depthMax = 200 // nested values; a deeper text is not taken as a document
	nodesMax = 1 << 18
)

// parseJSON reads no further than the first sign of another kind of text.
func parseJSON(text []byte) (*Node, bool) {
	p := parser{text: text}
	all := Node{Kind: Values, To: len(text)}
	for p.skip(); p.at < len(text); p.skip() {
		if c := text[p.at]; c != '{' && c != '[' {
			return nil, false
		}
		one, ok := p.value(0)
		if !ok {
			return nil, false
		}
		all.Items = append(all.Items, one)
	}
	all.digest(text)
	return &all, len(all.Items) > 0
}

type parser struct {
	text  []byte
	at    int
	nodes int
}

func (p *parser) skip() {
	for p.at < len(p.text) && bytes.IndexByte([]byte(" \t\r\n"), p.text[p.at]) >= 0 {
		p.at++
	}
}

// take skips whitespace and a sign, and reports whether the sign is there.
func (p *parser) take(sign byte) bool {
	p.skip()
	is := p.at < len(p.text) && p.text[p.at] == sign
	if is {
		p.at++
	}
	return is
}

func (p *parser) value(depth int) (n Node, ok bool) {
	p.skip()
	if p.nodes++; p.at == len(p.text) || depth > depthMax || p.nodes > nodesMax {
		return n, false
	}
	n.From = p.at
	switch c := p.text[p.at]; c {
	case '{', '[':
		p.at++
		ok = p.items(&n, c, depth+1)
	case '"':
		n.Kind, ok = String, p.quoted()
	default:
		n.Kind, ok = Literal, p.literal()
	}
	n.To = p.at
	if ok {
		n.digest(p.text)
	}
	return n, ok
}

// items reads the items of a container up to its closing bracket.
func (p *parser) items(n *Node, opened byte, depth int) bool {
	closing := opened + 2 // ] is [ and 2, } is { and 2
	if n.Kind = List; opened == '{' {
		n.Kind = Object
	}
	if p.take(closing) {
		return true
	}
	for {
		var key []byte
		if n.Kind == Object {
			p.skip()
			from := p.at
			if p.at == len(p.text) || p.text[p.at] != '"' || !p.quoted() {
				return false
			}
			if key = p.text[from+1 : p.at-1]; !p.take(':') {
				return false
			}
		}
		item, ok := p.value(depth)
		if !ok {
			return false
		}
		item.Key = key
		n.Items = append(n.Items, item)
		if p.take(closing) {
			return true
		}
		if !p.take(',') {
			return false
		}
	}
}

func (p *parser) quoted() bool {
	for p.at++; p.at < len(p.text); p.at++ {
		switch c := p.text[p.at]; {
		case c == '\\':
			p.at++
		case c == '"':
			p.at++
			return true
		case c < ' ':
			return false
		}
	}
	p.at = len(p.text) // it may be behind an escape
	return false
}

// literal reads a number, true, false or null.
func (p *parser) literal() bool {
	from := p.at
	for p.at < len(p.text) && (p.text[p.at] >= '0' && p.text[p.at] <= '9' || p.text[p.at]|0x20 >= 'a' && p.text[p.at]|0x20 <= 'z' || bytes.IndexByte([]byte("+-."), p.text[p.at]) >= 0) {
		p.at++
	}
	word := p.text[from:p.at]
	switch string(word) {
	case "true", "false", "null":
		return true
	}
	return len(word) > 0 && (word[0] == '-' || word[0] >= '0' && word[0] <= '9')
}
