package lab

import (
	"fmt"
	"strconv"

	"muster/internal/page"
	"muster/internal/plot"
	"muster/internal/readable"
	"muster/lab/probe"
	"muster/lab/results"
)

// IOReport reports the results of [IO].
func IOReport(of *Results, o IOOptions) Report {
	r := view{of}
	d := newDocument(of, "The cost of files, messages, calls and locks",
		howMeasured(o.Count))
	d.Sections = []page.Section{
		r.filesSection(o), r.enginesSection(o), r.renameSection(o), r.logSection(), r.messagesSection(), r.waitsSection(), r.exhaustSection(o),
	}
	return Report{document: d}
}

func (r view) filesSection(o IOOptions) page.Section {
	t := page.Table{
		Caption: fmt.Sprintf("µs per file, for %s files", readable.Number(int64(o.Files))),
		Columns: newColumns("", "create", "read", "stat", "rename", "remove"),
	}
	for _, size := range fileSizes() {
		for _, workers := range fileWorkers() {
			name := filesName(size, workers)
			row := page.Row(fmt.Sprintf("%s bytes, %d at once", readable.Number(int64(size)), workers))
			for _, unit := range []string{createUnit, readUnit, statUnit, renameUnit, removeUnit} {
				row = append(row, r.medianCell(name, unit, 1000))
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return page.Section{
		Title:  "Operations on whole files",
		Text:   []string{"These are operations of Go's package os. Nothing is flushed, and files are read just after they were written. So the figures are costs of system calls and the system's cache, not of a disk."},
		Tables: []page.Table{t},
	}
}

func (r view) renameSection(o IOOptions) page.Section {
	t := page.Table{Caption: fmt.Sprintf("%s files", readable.Number(int64(o.Renames))), Columns: newColumns("", "µs per file", "seconds in total")}
	var names []string
	for _, folders := range renameFolders() {
		name := renameName(folders)
		title := "into one folder"
		if folders > 1 {
			title = fmt.Sprintf("into %d folders", folders)
		}
		t.Rows = append(t.Rows, append(page.Row(title), r.medianCell(name, results.NsPerOp, 1e3), r.medianCell(name, results.NsPerOp, 1e9/float64(o.Renames))))
		names = append(names, name)
	}
	return page.Section{
		Title:  "Files renamed into one folder or several",
		Text:   []string{"In an article, renaming two million files took 183 to 320 s into one flat folder, and 33 to 46 s into ten."},
		Tables: []page.Table{t}, Warnings: r.warnings(names),
	}
}

func (r view) logSection() page.Section {
	t := page.Table{
		Caption: "ns per line",
		Columns: newColumns("", "1 goroutine", "8 goroutines", "1, buffered", "8, buffered"),
	}
	var names []string
	var pictures []plot.Chart
	for _, buffered := range []bool{false, true} {
		title := "A log line of one goroutine"
		if buffered {
			title += ", buffered"
		}
		pictures = append(pictures, r.bars(title, "ns per line", probe.LogFormats(), results.NsPerOp, 1, func(logger string) string { return logName(logger, buffered, 1) })...)
	}
	for _, logger := range probe.LogFormats() {
		row := page.Row(logger)
		for _, buffered := range []bool{false, true} {
			for _, goroutines := range goroutineCounts() {
				name := logName(logger, buffered, goroutines)
				names = append(names, name)
				row = append(row, r.medianCell(name, results.NsPerOp, 1))
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return page.Section{Title: "Log lines", Tables: []page.Table{t}, Pictures: pictures, Warnings: r.warnings(names)}
}

func (r view) messagesSection() page.Section {
	codec := page.Table{
		Caption: "ns to encode and decode a message, and its encoded size in bytes",
		Columns: newColumns("", "38 bytes", "encoded", "4,096 bytes", "encoded"),
	}
	echo := page.Table{Caption: fmt.Sprintf("%d connections send a message of 38 bytes and wait for the answer", echoConnections),
		Columns: newColumns("", "messages per second", "ns of processor time per message")}
	var names []string
	for _, impl := range []string{"protobuf", "json"} {
		row := page.Row(impl)
		for _, size := range codecSizes() {
			name := codecName(impl, size)
			names = append(names, name)
			row = append(row, r.medianCell(name, results.NsPerOp, 1), r.medianCell(name, wireUnit, 1))
		}
		codec.Rows = append(codec.Rows, row)
		rate := page.Cell{Text: "–"}
		if s := r.Summary(echoName(impl), results.NsPerOp); s.Median > 0 {
			rate.Text = readable.Number(int64(1e9 / s.Median))
		}
		echo.Rows = append(echo.Rows, append(page.Row(impl), rate, r.medianCell(echoName(impl), results.CPUPerOp, 1)))
	}
	return page.Section{
		Title:  "Messages as protobuf and as JSON",
		Text:   []string{"An article measured 157,000 messages per second with protobuf and 114,000 with JSON, over 500 connections."},
		Tables: []page.Table{codec, echo}, Warnings: r.warnings(names),
	}
}

func (r view) waitsSection() page.Section {
	t := page.Table{Caption: "ns per operation", Columns: newColumns("", "elapsed", "processor time")}
	var titles, names []string
	nameOf := map[string]string{}
	add := func(title, name string) {
		titles, names = append(titles, title), append(names, name)
		nameOf[title] = name
		t.Rows = append(t.Rows, append(page.Row(title), r.medianCell(name, results.NsPerOp, 1), r.medianCell(name, results.CPUPerOp, 1)))
	}
	add("a call in Go", callName("go", 1))
	add("a call into C", callName("cgo", 1))
	add("a call into C, by 8 goroutines", callName("cgo", 8))
	add("locking and unlocking", lockName(1))
	add("locking and unlocking, by 8 goroutines", lockName(8))
	for _, procs := range []int{1, 2} {
		add("waking a goroutine, GOMAXPROCS "+strconv.Itoa(procs), wakeUpName(false, procs))
	}
	add("waking a thread", wakeUpName(true, 2))
	pictures := r.bars("Calls, locks and wake-ups", "elapsed ns per operation", titles, results.NsPerOp, 1, func(title string) string { return nameOf[title] })
	return page.Section{Title: "Calls, locks and wake-ups", Tables: []page.Table{t}, Pictures: pictures, Warnings: r.warnings(names)}
}

func (r view) exhaustSection(o IOOptions) page.Section {
	s := page.Section{
		Title: "A program with too many threads",
		Text:  []string{"A read that the runtime's poller cannot handle, such as that of a regular file, keeps a system thread until it ends. Go's runtime ends a program that needs more than 10,000 threads at the same time."},
	}
	name := exhaustName(o.ThreadsLimit)
	if why := r.Why(name); why != "" {
		s.Notes = []string{why}
		return s
	}
	n, status := r.Summary(name, threadsUnit), r.Summary(name, exitStatusUnit)
	if n.N == 0 {
		s.Notes = []string{"It was not measured."}
	} else {
		s.Text = append(s.Text, fmt.Sprintf("In a process of its own it happened here at %s threads, with exit status %.0f.", readable.Number(int64(n.Median)), status.Median))
	}
	return s
}
