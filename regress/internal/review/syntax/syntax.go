// Package syntax finds the tokens of source texts, by the names of their files, for the colours of a
// review in a browser. Its results are bounded in size and time, because an output may be made to
// keep a lexer busy.
//
// It must not know the layout of a difference, and no analysis may use it.
package syntax

import (
	"bytes"
	"context"
	"path"
	"time"
	"unicode/utf8"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"

	"muster/regress/internal/plaintext"
	"muster/regress/internal/review"
)

// Bounds of a text that is coloured. Outputs are hostile: the expressions of a lexer may take
// very long for a text that was made for it.
const (
	bytesMax      = 256 << 10
	lineMax       = 4 << 10  // bytes of one line
	wholeBytesMax = 16 << 10 // for a lexer that is not gradual
	timeMax       = 3 * time.Second
	casesMax      = 2 // cases at once
)

const standardOutput = "stdout" // name of that part

// A Finder finds tokens. Several goroutines may use it.
type Finder struct {
	busy chan struct{} // has an element for each case at work
}

// NewFinder returns a Finder without work.
func NewFinder() *Finder { return &Finder{make(chan struct{}, casesMax)} }

// AddTokens adds the tokens to the parts whose file names belong to a language. The output on
// stdout counts as a text in the language of its source. If the time is over, parts lack
// tokens, and the goroutine ends after its present match.
func (f *Finder) AddTokens(ctx context.Context, caseName string, parts []review.Part) {
	ctx, cancel := context.WithTimeout(ctx, timeMax)
	defer cancel()
	select {
	case f.busy <- struct{}{}:
	case <-ctx.Done():
		return
	}
	type tokens struct{ old, now []review.Token }
	done := make(chan []tokens, 1) // its reader may be gone
	go func() {
		defer func() { <-f.busy }()
		all := make([]tokens, len(parts))
		for i, p := range parts {
			file := p.Name
			if file == standardOutput {
				file = caseName
			}
			all[i] = tokens{tokensOf(ctx, file, p.Old), tokensOf(ctx, file, p.Now)}
		}
		done <- all
	}()
	select {
	case all := <-done:
		for i := range parts {
			parts[i].OldTokens, parts[i].NowTokens = all[i].old, all[i].now
		}
	case <-ctx.Done():
	}
}

// tokensOf returns the tokens of a text with a colour, or none if it is too large or not in a known language.
func tokensOf(ctx context.Context, file string, text []byte) (tokens []review.Token) {
	if len(text) > bytesMax || !utf8.Valid(text) || !plaintext.Is(text) || hasLongLine(text) {
		return nil
	}
	lexer := lexers.Match(path.Base(file))
	if lexer == nil || len(text) > wholeBytesMax && !isGradual(lexer) {
		return nil
	}
	// A lexer reports its errors as panics.
	defer func() {
		if recover() != nil {
			tokens = nil
		}
	}()
	next, err := lexer.Tokenise(&chroma.TokeniseOptions{State: "root"}, string(text))
	if err != nil {
		return nil
	}
	at := 0
	for t := range next.Stdlib() {
		if ctx.Err() != nil || !bytes.HasPrefix(text[at:], []byte(t.Value)) {
			return tokens // a lexer may add a newline at the end
		}
		from := at
		at += len(t.Value)
		if kind := kindOf(t.Type); kind != "" {
			tokens = append(tokens, review.Token{From: from, To: at, Kind: kind})
		}
	}
	return tokens
}

// isGradual reports whether a lexer reads a text as its tokens are taken. Others, as those of templates, read
// all of it before the first token, so that timeMax does not end them.
func isGradual(l chroma.Lexer) bool {
	_, is := l.(*chroma.RegexLexer)
	return is
}

func hasLongLine(text []byte) bool {
	for line := range bytes.Lines(text) {
		if len(line) > lineMax {
			return true
		}
	}
	return false
}

// kindOf returns the name of a token's colour, or "" if it has the colour of other text.
func kindOf(t chroma.TokenType) string {
	switch {
	case t.InCategory(chroma.Keyword), t == chroma.NameTag:
		return "keyword"
	case t.InSubCategory(chroma.CommentPreproc):
		return "keyword"
	case t.InCategory(chroma.Comment):
		return "comment"
	case t.InSubCategory(chroma.LiteralNumber):
		return "number"
	case t.InSubCategory(chroma.LiteralString):
		return "string"
	}
	return ""
}
