package lab

import (
	"fmt"
	"strconv"

	"muster/lab/page"
	"muster/lab/probe"
	"muster/lab/results"
)

// IOReport shows the results of [IO].
func IOReport(of *Results, o IOOptions) Report {
	r := view{of}
	d := newDocument(of, "What lies around files",
		howMeasured(o.Count))
	d.Sections = []page.Section{
		r.filesSection(o), r.enginesSection(o), r.renameSection(o), r.logSection(), r.messagesSection(), r.waitsSection(), r.exhaustSection(o),
	}
	return Report{document: d}
}

func (r view) filesSection(o IOOptions) page.Section {
	t := page.Table{
		Caption: fmt.Sprintf("µs for each of %s files", grouped(int64(o.Files))),
		Columns: columns("", "create", "read", "stat", "rename", "remove"),
	}
	for _, size := range fileSizes() {
		for _, workers := range fileWorkers() {
			name := filesName(size, workers)
			row := page.Row(fmt.Sprintf("%s bytes, %d at once", grouped(int64(size)), workers))
			for _, unit := range []string{createUnit, readUnit, statUnit, renameUnit, removeUnit} {
				row = append(row, r.cell(name, unit, 1000))
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return page.Section{
		Title:  "Operations on whole files",
		Text:   []string{"As Go's package os has them. Nothing is flushed, and what is read was written just now: these are costs of the system's calls and its cache, not of a disk."},
		Tables: []page.Table{t},
	}
}

func (r view) renameSection(o IOOptions) page.Section {
	t := page.Table{Caption: fmt.Sprintf("%s files", grouped(int64(o.Renames))), Columns: columns("", "µs for each", "seconds in all")}
	var names []string
	for _, folders := range renameDirs() {
		name := renameName(folders)
		title := "into one folder"
		if folders > 1 {
			title = fmt.Sprintf("into %d folders", folders)
		}
		t.Rows = append(t.Rows, append(page.Row(title), r.cell(name, results.NsPerOp, 1e3), r.cell(name, results.NsPerOp, 1e9/float64(o.Renames))))
		names = append(names, name)
	}
	return page.Section{
		Title:  "Files renamed into one folder or several",
		Text:   []string{"An article found 183 to 320 s for two million files renamed into one flat folder, and 33 to 46 s into ten."},
		Tables: []page.Table{t}, Warnings: r.warnings(names),
	}
}

func (r view) logSection() page.Section {
	t := page.Table{
		Caption: "ns for each line",
		Columns: columns("", "1 goroutine", "8 goroutines", "1, buffered", "8, buffered"),
	}
	var names []string
	for _, logger := range probe.LogFormats() {
		row := page.Row(logger)
		for _, buffered := range []bool{false, true} {
			for _, goroutines := range someOrMany() {
				name := logName(logger, buffered, goroutines)
				names = append(names, name)
				row = append(row, r.cell(name, results.NsPerOp, 1))
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return page.Section{Title: "Lines of a log", Tables: []page.Table{t}, Warnings: r.warnings(names)}
}

func (r view) messagesSection() page.Section {
	codec := page.Table{
		Caption: "ns to encode and decode a message, and its bytes when encoded",
		Columns: columns("", "38 bytes", "encoded", "4,096 bytes", "encoded"),
	}
	echo := page.Table{Caption: fmt.Sprintf("%d connections that send a message of 38 bytes and wait for it to come back", echoConnections),
		Columns: columns("", "messages a second", "ns of processor time")}
	var names []string
	for _, impl := range []string{"protobuf", "json"} {
		row := page.Row(impl)
		for _, size := range codecSizes() {
			name := codecName(impl, size)
			names = append(names, name)
			row = append(row, r.cell(name, results.NsPerOp, 1), r.cell(name, wire, 1))
		}
		codec.Rows = append(codec.Rows, row)
		rate := page.Cell{Text: "–"}
		if s := r.Summary(echoName(impl), results.NsPerOp); s.Median > 0 {
			rate.Text = grouped(int64(1e9 / s.Median))
		}
		echo.Rows = append(echo.Rows, append(page.Row(impl), rate, r.cell(echoName(impl), results.CPUPerOp, 1)))
	}
	return page.Section{
		Title:  "Messages as protobuf and as JSON",
		Text:   []string{"An article counted 157,000 a second with protobuf and 114,000 with JSON, over 500 connections."},
		Tables: []page.Table{codec, echo}, Warnings: r.warnings(names),
	}
}

func (r view) waitsSection() page.Section {
	t := page.Table{Caption: "ns for each", Columns: columns("", "ns", "of processor time")}
	var names []string
	add := func(title, name string) {
		names = append(names, name)
		t.Rows = append(t.Rows, append(page.Row(title), r.cell(name, results.NsPerOp, 1), r.cell(name, results.CPUPerOp, 1)))
	}
	add("a call in Go", callName("go", 1))
	add("a call into C", callName("cgo", 1))
	add("a call into C, from 8 goroutines", callName("cgo", 8))
	add("a lock, taken and given back", lockName(1))
	add("a lock that 8 goroutines want", lockName(8))
	for _, procs := range []int{1, 2} {
		add("waking a goroutine, GOMAXPROCS "+strconv.Itoa(procs), wakeUpName(false, procs))
	}
	add("waking a thread", wakeUpName(true, 2))
	return page.Section{Title: "Calls, locks and wake-ups", Tables: []page.Table{t}, Warnings: r.warnings(names)}
}

func (r view) exhaustSection(o IOOptions) page.Section {
	s := page.Section{
		Title: "A program with too many threads",
		Text:  []string{"A read that the runtime's poller cannot wait for, as of a regular file, keeps a thread of the system until it is done. A Go program that needs more than 10,000 at the same time is ended by its runtime."},
	}
	name := exhaustName(o.ThreadsLimit)
	if why := r.Why(name); why != "" {
		s.Notes = []string{why}
		return s
	}
	n, status := r.Summary(name, threads), r.Summary(name, exitStatus)
	if n.N == 0 {
		s.Notes = []string{"It was not measured."}
	} else {
		s.Text = append(s.Text, fmt.Sprintf("Shown here in a process of its own: with %s threads it ended with status %.0f.", grouped(int64(n.Median)), status.Median))
	}
	return s
}
