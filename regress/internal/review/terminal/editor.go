package terminal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/kballard/go-shellquote"

	"muster/regress/internal/review"
)

// editorIn returns the reviewer's editor with its arguments, from an environment, or "" if
// there is none.
func editorIn(environ []string) string {
	values := map[string]string{}
	for _, one := range environ {
		name, value, _ := strings.Cut(one, "=")
		values[name] = value
	}
	return cmp.Or(values["VISUAL"], values["EDITOR"])
}

// editorExit is the message that the editor has exited.
type editorExit struct{ err error }

// edit opens the reviewer's editor on both sides of the part that is shown.
func (m *model) edit() tea.Cmd {
	words, err := shellquote.Split(m.editor)
	switch {
	case err != nil:
		m.message = fmt.Sprintf("EDITOR is %q, which is not quoted as a shell wants it: correct it", m.editor)
		return nil
	case len(words) == 0:
		m.message = "e wants an editor: leave, set EDITOR to one, and start muster review again"
		return nil
	}
	k, some := m.wantedPage()
	if _, loaded := m.pages.find(k); some && !loaded {
		m.message = "the difference is not loaded yet: press e again"
		return nil
	}
	part, shown := m.shownPart()
	if !some || !shown {
		m.message = "this case has no part to open"
		return nil
	}
	caseName := m.desk.Cases()[k.c].Name
	load := func() (review.Part, error) {
		d, err := m.desk.Difference(m.ctx, caseName)
		if err == nil && part >= len(d.Parts) {
			err = errors.New("the golden has this outcome by now")
		}
		if err != nil {
			return review.Part{}, err
		}
		return d.Parts[part], nil
	}
	return tea.Exec(&editing{ctx: m.ctx, words: words, load: load, lend: m.lend}, func(err error) tea.Msg { return editorExit{err} })
}

// shownPart returns the index of the part that the pane shows: that of the first change, or
// that of the first row once a key has moved the difference.
func (m *model) shownPart() (part int, some bool) {
	k, _ := m.wantedPage()
	p, _ := m.pages.find(k)
	if len(p.parts) == 0 {
		return 0, false
	}
	line := m.view.top.line
	if !m.view.moved {
		line = firstChange(p.lines)
	}
	for i, from := range p.parts {
		if from <= line {
			part = i
		}
	}
	return part, true
}

// An editing is an editor that runs on both sides of a part. It implements tea.ExecCommand: Run
// runs while the review is off the screen.
type editing struct {
	ctx      context.Context
	words    []string // the editor and its arguments
	load     func() (review.Part, error)
	lend     func() (back func()) // see Streams
	in       io.Reader
	out, err io.Writer
}

func (e *editing) SetStdin(r io.Reader)  { e.in = r }
func (e *editing) SetStdout(w io.Writer) { e.out = w }
func (e *editing) SetStderr(w io.Writer) { e.err = w }

// editorGrace is how long an editor may take to exit when the review is interrupted.
const editorGrace = 2 * time.Second

// settling is the shortest time that the review is off the screen. Bubbletea stops the ticker
// that draws in a goroutine of its own. If that goroutine were late, it would stop the ticker
// of the restored screen, which would then stay blank.
const settling = 50 * time.Millisecond

// Run writes both sides to files, waits for the editor and removes the files.
func (e *editing) Run() (err error) {
	time.Sleep(settling)
	part, err := e.load()
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "muster-review-")
	if err != nil {
		return noFiles(err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	files, err := writeSides(folder, part)
	if err != nil {
		return noFiles(err)
	}
	words := slices.Concat(e.words, files)
	c := exec.CommandContext(e.ctx, words[0], words[1:]...)
	c.Stdin, c.Stdout, c.Stderr = e.in, e.out, e.err
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	c.WaitDelay = editorGrace
	defer e.lend()()
	return explain(words[0], c.Run())
}

func noFiles(err error) error {
	return fmt.Errorf("no files for the editor: %w: set TMPDIR to another folder", err)
}

// writeSides writes both sides of a part to files in a folder, and returns their paths.
func writeSides(folder string, part review.Part) (files []string, err error) {
	for _, side := range [...]struct {
		name    string
		content []byte
	}{{"old-", part.Old}, {"new-", part.Now}} {
		file := filepath.Join(folder, side.name+fileNameOf(part.Name))
		if err := os.WriteFile(file, side.content, 0o400); err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	return files, nil
}

// nameBytes is the longest file name of a part, in bytes.
const nameBytes = 100

// fileNameOf returns the name of a part as a file name that keeps its extension.
func fileNameOf(part string) string {
	base := path.Base(part)
	return strings.ToValidUTF8(base[max(0, len(base)-nameBytes):], "")
}

// explain describes how an editor exited.
func explain(editor string, err error) error {
	var status *exec.ExitError
	switch {
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("the editor %s cannot be started: set EDITOR to one that is installed", editor)
	case errors.As(err, &status):
		return fmt.Errorf("the editor %s ended with %s", editor, status)
	}
	return err
}
