package faults

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// ended is a finished run of the program.
type ended struct {
	args           []string
	status         int
	stdout, stderr string
}

func (e ended) String() string {
	return fmt.Sprintf("muster %s: exit status %d\n%s%s", strings.Join(e.args, " "), e.status, e.stdout, e.stderr)
}

// says returns whether a text is in the output.
func (e ended) says(text string) bool { return strings.Contains(e.stdout+e.stderr, text) }

// patience is longer than any run without a defect.
const patience = time.Minute

func (s *stage) command(ctx context.Context, args ...string) *exec.Cmd {
	s.Helper()
	path, err := program()
	if err != nil {
		s.Fatal(err)
	}
	c := exec.CommandContext(ctx, path, args...)
	// Not in the folder of the disk: while this process starts another one, it cannot serve the disk.
	c.Dir = filepath.Dir(s.tool)
	c.Env = append(os.Environ(), "MUSTER_REPEAT_AFTER=0s")
	c.WaitDelay = 10 * time.Second
	return c
}

func (s *stage) muster(args ...string) ended {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), patience)
	defer cancel()
	c := s.command(ctx, args...)
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	err := c.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		s.Errorf("%v: %v", args, err)
	}
	return ended{args, c.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// must runs the program, which must end with a status, and returns its standard output.
func (s *stage) must(status int, args ...string) string {
	s.Helper()
	e := s.muster(args...)
	if e.status != status {
		s.Errorf("not %d: %v", status, e)
	}
	return e.stdout
}

// review joins two causes and accepts everything on the page of a review. Its status is 0 if the page says that all is
// accepted, else 3.
func (s *stage) review() ended {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), patience)
	defer cancel()
	c := s.command(ctx, "review", "--web", "--state", s.in("state"))
	var said bytes.Buffer
	c.Stderr = &said
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		s.Fatal(err)
	}
	e := ended{args: c.Args[1:], status: 3}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if link := strings.TrimSpace(lines.Text()); strings.HasPrefix(link, "http://") {
			if e.stdout, err = decide(ctx, link); err == nil {
				e.status = 0
			} else {
				e.stdout += "\n" + err.Error() + "\n"
				_ = c.Process.Signal(syscall.SIGTERM) // it may have ended
			}
		}
	}
	_ = c.Wait()
	e.stderr = said.String()
	return e
}

// decide accepts the rest, writes it and finishes, and returns the last answer.
func decide(ctx context.Context, link string) (last string, err error) {
	address, token, _ := strings.Cut(link, "/#")
	client := &http.Client{}
	defer client.CloseIdleConnections()
	key := ""
	post := func(path string, body, into any) error {
		sent, err := json.Marshal(body)
		if err != nil {
			return err
		}
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, address+path, bytes.NewReader(sent))
		if err != nil {
			return err
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Muster-Key", key)
		r.Header.Set("Muster-Page", "test")
		r.Header.Set("Origin", address)
		answer, err := client.Do(r)
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		last = string(text)
		if err == nil && answer.StatusCode != http.StatusOK {
			err = fmt.Errorf("%s: %s", path, answer.Status)
		}
		if err == nil {
			err = json.Unmarshal(text, into)
		}
		return err
	}
	var session struct{ Key string }
	if err := post("/session", map[string]string{"token": token}, &session); err != nil {
		return last, err
	}
	key = session.Key
	if err := post("/take", struct{}{}, &struct{}{}); err != nil {
		return last, err
	}
	if err := post("/act", map[string]any{"do": "join", "item": "G1", "items": []string{"G1", "G2"}}, &struct{}{}); err != nil {
		return last, err
	}
	if err := post("/act", map[string]string{"do": "accept-rest"}, &struct{}{}); err != nil {
		return last, err
	}
	var plan struct{ State struct{ Revision int } }
	if err := post("/plan", struct{}{}, &plan); err != nil {
		return last, err
	}
	var written struct {
		Accepted int
		Refused  string
	}
	if err := post("/commit", map[string]int{"revision": plan.State.Revision}, &written); err != nil {
		return last, err
	}
	answer := last
	if err := post("/finish", map[string]bool{"lose": true}, &struct{}{}); err != nil {
		return last, err
	}
	if written.Refused != "" || written.Accepted == 0 {
		return answer, errors.New("not accepted")
	}
	return answer, nil
}

// lastLine returns the last line of standard error.
func (e ended) lastLine() string {
	lines := strings.Split(strings.TrimSpace(e.stderr), "\n")
	return lines[len(lines)-1]
}
