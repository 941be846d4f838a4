package local

import (
	"errors"
	"testing"
	"time"
)

// Whatever is done with a link that was hung up reports a dead lane: the case then gets
// another helper. The context of an earlier run may end at any time.
func TestLinkHungUp(t *testing.T) {
	l, jobs, answers, err := newLink()
	if err != nil {
		t.Fatal(err)
	}
	defer jobs.Close()
	defer answers.Close()
	l.hangUp()
	for what, err := range map[string]error{
		"send":  l.send([]byte("x")),
		"await": l.extendDeadline(time.Second),
		"next":  l.receive(func([]byte) error { return nil }),
	} {
		if !errors.Is(err, errLaneDied) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
