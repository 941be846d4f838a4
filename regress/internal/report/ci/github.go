package ci

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"

	"muster/internal/readable"
	"muster/internal/workflow"
	"muster/regress"
	"muster/regress/internal/name"
	"muster/regress/internal/report"
)

// Bounds of what GitHub shows. It drops further annotations of a kind in one step, and a summary that is
// larger than summaryBytesMax.
const (
	annotationsMax  = 10
	summaryBytesMax = 1 << 20
	titleBytesMax   = 200
	messageBytesMax = 4 << 10
	namesMax        = 10
)

// NewGitHub returns a Reporter that passes all events to inner, and annotates the step of GitHub Actions
// that runs muster. It writes commands to the given stream. While inner writes, the runner obeys no
// command, because text of cases may look like one. Unless summary is "", a report is appended to that
// file.
func NewGitHub(inner report.Reporter, commands io.Writer, summary string) report.Reporter {
	g := &gitHub{inner: inner, commands: commands, token: rand.Text()}
	if summary != "" {
		g.summary = report.NewMarkdownTo(func(text string) error {
			if err := appendSummary(summary, text); err != nil {
				g.warnings = append(g.warnings, err.Error())
			}
			return nil
		})
	}
	return g
}

type gitHub struct {
	inner      report.Reporter
	commands   io.Writer
	summary    report.Reporter // nil = none
	token      string          // lets the runner obey commands again
	isStopped  bool            // the runner obeys no command until token
	started    report.Started
	warnings   []string
	names      [regress.Identical][]string // the first cases by verdict
	groups     []report.Group              // the first causes
	causeCount int
	ended      *regress.Summary // nil: the run broke off
}

func (g *gitHub) Handle(ev report.Event) error {
	var errs []error
	if !g.isStopped {
		g.isStopped = true
		errs = append(errs, g.command("stop-commands", nil, g.token))
	}
	errs = append(errs, g.inner.Handle(ev))
	if g.summary != nil {
		errs = append(errs, g.summary.Handle(ev))
	}
	switch ev := ev.(type) {
	case report.Started:
		g.started, g.names, g.groups, g.causeCount = ev, [regress.Identical][]string{}, nil, 0
	case report.Note:
		if ev.Warning {
			g.warnings = append(g.warnings, ev.Text)
		}
	case report.Case:
		if ev.Verdict < regress.Identical && len(g.names[ev.Verdict]) < namesMax {
			g.names[ev.Verdict] = append(g.names[ev.Verdict], ev.Name)
		}
	case report.Group:
		if g.causeCount++; g.causeCount <= annotationsMax {
			ev.Members = nil
			g.groups = append(g.groups, ev)
		}
	case report.Finished:
		g.ended = &ev.Summary
	}
	return errors.Join(errs...)
}

// Close lets the runner obey commands again, and writes the annotations.
func (g *gitHub) Close() error {
	errs := []error{g.inner.Close()}
	if !g.isStopped {
		return errors.Join(errs...)
	}
	errs = append(errs, g.command(g.token, nil, ""))
	if g.ended != nil {
		errs = append(errs, g.annotate(*g.ended))
	}
	return errors.Join(errs...)
}

func (g *gitHub) command(what string, p []workflow.Property, message string) error {
	_, err := io.WriteString(g.commands, workflow.Command(what, p, message))
	return err
}

// An annotation is a message of GitHub beside a file, or beside none.
type annotation struct{ file, title, message string }

// annotate writes the annotations: an error for each of the first causes, one for each verdict without
// causes, and the warnings of the run.
func (g *gitHub) annotate(s regress.Summary) error {
	failing, notices := g.verdicts(s)
	failing = append(g.causes(s, annotationsMax-len(failing)), failing...)
	if len(failing) == 0 && s.ExitStatus != regress.StatusClean {
		failing = []annotation{{title: title(s.Command), message: report.Headline(s)}}
	}
	var warnings []annotation
	for _, w := range g.warnings {
		warnings = append(warnings, annotation{title: title(s.Command), message: w})
	}
	return errors.Join(g.writeAll("error", failing), g.writeAll("warning", warnings), g.writeAll("notice", notices))
}

func (g *gitHub) writeAll(kind string, list []annotation) error {
	var errs []error
	for _, a := range list[:min(len(list), annotationsMax)] {
		title := readable.Clip(readable.Line(a.title), titleBytesMax)
		message := readable.Clip(strings.TrimRight(readable.Text(a.message), "\n"), messageBytesMax)
		errs = append(errs, g.command(kind, []workflow.Property{{Key: "file", Value: a.file}, {Key: "title", Value: title}}, message))
	}
	return errors.Join(errs...)
}

func title(rest string) string { return "muster " + rest }

// causes returns at most room annotations. The last one counts the causes that have none.
func (g *gitHub) causes(s regress.Summary, room int) (list []annotation) {
	room = max(room, 0) // without causes, verdicts may take more than all annotations
	shown := g.groups[:min(len(g.groups), room)]
	if g.causeCount > room {
		shown = shown[:room-1]
	}
	for i := range shown {
		c := &shown[i]
		text := fmt.Sprintf("%s\nIn %s, such as %s:\n%s\n", readable.Line(c.Name), readable.Cases(c.Cases), name.Print(c.Example), strings.TrimSuffix(c.Excerpt, "\n"))
		if s.Run != "" { // else no run is kept
			text += "muster show " + c.ID + " prints the whole cause."
		}
		list = append(list, annotation{sourcePath(g.started, c.Example), title(c.ID + " in " + readable.Cases(c.Cases) + ": " + c.Name), text})
	}
	if more := g.causeCount - len(shown); more > 0 {
		list = append(list, annotation{title: title(readable.Count(more, "more cause")), message: "muster groups lists all causes."})
	}
	return list
}

// verdicts returns an annotation for each verdict that no cause explains: those that make the run fail,
// and the others.
func (g *gitHub) verdicts(s regress.Summary) (failing, others []annotation) {
	for i, names := range g.names {
		v := regress.Verdict(i)
		if len(names) == 0 || g.started.Command == regress.RecordCommand || g.causeCount > 0 && !isOutsideCauses(v) {
			continue
		}
		var printed []string
		for _, n := range names {
			printed = append(printed, name.Print(n))
		}
		if more := s.Verdicts[v] - len(names); more > 0 {
			printed = append(printed, readable.Number(more)+" more")
		}
		one := annotation{sourcePath(g.started, names[0]), title(readable.Cases(s.Verdicts[v]) + " " + v.String()), meaning(v) + ": " + strings.Join(printed, ", ")}
		if g.started.Fails(v) {
			failing = append(failing, one)
		} else {
			others = append(others, one)
		}
	}
	return failing, others
}

// appendSummary appends a report to the summary of a step. Other commands of the step may have written
// there.
func appendSummary(path, text string) (err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|syscall.O_NONBLOCK, 0o666) // else a pipe without a reader blocks
	if err != nil {
		return errors.New("the summary of the step cannot be written: GITHUB_STEP_SUMMARY names a file that cannot be opened")
	}
	defer func() {
		if f.Close() != nil && err == nil {
			err = errors.New("the summary of the step could not be written to its end")
		}
	}()
	info, err := f.Stat()
	switch {
	case err == nil && info.Size()+int64(len(text)) > summaryBytesMax:
		return fmt.Errorf("the summary of the step has %s already, and GitHub takes at most %s: run muster in a step of its own", readable.BinarySize(info.Size()), readable.BinarySize(summaryBytesMax))
	case err == nil:
		_, err = io.WriteString(f, "\n"+text) // what is there may not end in a newline
	}
	if err != nil {
		return errors.New("the summary of the step could not be written to its end")
	}
	return nil
}
