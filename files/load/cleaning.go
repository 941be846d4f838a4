package load

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
)

// listing is what a server answers that is asked which files it has.
type listing struct {
	Files []struct {
		Name string `json:"name"`
	} `json:"files"`
	Next string `json:"next"`
}

// listingMax is how many bytes a page of it may have.
const listingMax = 16 << 20

// cleaning lists the files below Prefix, page by page, and has each deleted. Names are
// looked at once more: nothing else may go, whatever the server lists.
func (t *httpTarget) cleaning() source {
	var (
		mutex sync.Mutex
		page  listing
		ended bool
		taken int
	)
	return func(ctx context.Context, j *job) error {
		mutex.Lock()
		defer mutex.Unlock()
		for len(page.Files) == 0 {
			if ended {
				return io.EOF
			}
			next, err := t.list(ctx, page.Next)
			if ended = err != nil || next.Next == ""; err != nil {
				return err
			}
			page = next
		}
		name := page.Files[0].Name
		page.Files = page.Files[1:]
		if !strings.HasPrefix(name, Prefix) {
			ended, page.Files = true, nil
			return fmt.Errorf("the server lists %q among the files below %s: nothing more is deleted", name, Prefix)
		}
		*j = job{op: Clean, number: taken, name: (&url.URL{Path: name}).EscapedPath(), files: 1}
		taken++
		return nil
	}
}

// list asks for the files below Prefix that come after one.
func (t *httpTarget) list(ctx context.Context, after string) (page listing, err error) {
	l := &httpLink{target: t}
	defer l.close()
	if err := l.ready(ctx); err != nil {
		return page, &connectionError{err}
	}
	query := url.Values{"prefix": {Prefix}, "after": {after}}
	if _, err := io.WriteString(l.conn, "GET "+t.path+filesPath+"?"+query.Encode()+t.headers+"Accept: application/json\r\n\r\n"); err != nil {
		return page, &connectionError{err}
	}
	a, err := l.answer(false)
	if err != nil {
		return page, &connectionError{err}
	}
	if a.status != http.StatusOK {
		return page, fmt.Errorf("the list of files: %w", l.refusal(a, &job{}))
	}
	text, err := a.all(listingMax)
	if err != nil {
		return page, &connectionError{err}
	}
	if err := json.Unmarshal(text, &page); err != nil {
		return page, fmt.Errorf("the list of files: %w", err)
	}
	return page, nil
}

// all reads a whole body.
func (a *answer) all(limit int) (text []byte, err error) {
	for {
		p, err := a.next()
		if err == io.EOF {
			return text, nil
		}
		if err != nil {
			return nil, err
		}
		if text = append(text, p...); len(text) > limit {
			return nil, errors.New("it is too long")
		}
	}
}
