package lab

import (
	"fmt"
	"slices"

	"muster/internal/page"
	"muster/internal/plot"
	"muster/internal/readable"
	"muster/lab/results"
)

// Display names of the databases.
const (
	postgresName = "PostgreSQL"
	sqliteName   = "SQLite"
)

// database is a database with results.
type database struct{ impl, name string }

// writersSection reports goroutines that write to a database at the same time.
func (r view) writersSection(o ChannelOptions) page.Section {
	s := page.Section{Title: "Goroutines that write to a database"}
	written := slices.DeleteFunc([]database{{postgresImpl, postgresName}, {sqliteImpl, sqliteName}}, func(d database) bool {
		return !slices.ContainsFunc(o.Writers, func(n int) bool { return r.Summary(insertName(d.impl, n), rowsPerSecond).N > 0 })
	})
	if len(written) == 0 {
		s.Text = []string{"Nothing was written. The conditions list the missing databases."}
		return s
	}
	s.Text = []string{fmt.Sprintf("The goroutines share %s rows of 100 bytes. Each row is a transaction of its own, and is on the disk when it returns. "+
		"The databases are in the system's folder for temporary files, so the figures include that disk.", readable.Number(int64(o.Rows)))}
	s.Text = append(s.Text, r.writersClaim(o, written))
	var all []string
	for _, d := range written {
		s.Text = append(s.Text, r.connectionsText(o, d))
		for _, n := range o.Writers {
			all = append(all, insertName(d.impl, n))
		}
	}
	s.Tables = []page.Table{r.writersTable(o, written)}
	s.Pictures = r.writersChart(o, written).Drawable()
	s.Warnings = r.warnings(all)
	return s
}

// writersClaim returns the article's claim, and the figures of this machine.
func (r view) writersClaim(o ChannelOptions, written []database) string {
	text := "In a comment, the author of the article of 2013 stated that 1,000 goroutines write about 10 times as many rows as 20, and that the program takes 40 MB."
	few, many := o.Writers[0], o.Writers[len(o.Writers)-1]
	if slices.Contains(o.Writers, 20) {
		few = 20
	}
	if few >= many {
		return text
	}
	for _, d := range written {
		text += fmt.Sprintf(" Here %s takes %s times as many rows from %s goroutines as from %d", d.name, ratioText(r.Ratio(insertName(d.impl, many), insertName(d.impl, few), rowsPerSecond)), readable.Number(int64(many)), few)
		if memory := r.Summary(insertName(d.impl, many), clientRSS); memory.Median > 0 {
			text += fmt.Sprintf(", and the program takes %s MB", digits(memory.Median/megabyte))
		}
		text += "."
	}
	return text
}

const megabyte = 1e6

// connectionsText explains whether goroutines waited for connections.
func (r view) connectionsText(o ChannelOptions, d database) string {
	if d.impl == sqliteImpl {
		return "SQLite allows one writer at a time, so its goroutines share one connection."
	}
	many := o.Writers[len(o.Writers)-1]
	n := r.Summary(insertName(d.impl, many), connectionsUnit).Median
	if n <= 0 || n >= float64(many) {
		return "Each goroutine has its own connection to PostgreSQL, where each connection is a process."
	}
	return fmt.Sprintf("In PostgreSQL each connection is a process, and the default allows %s connections. "+
		"Further goroutines wait for a free connection, so that is the largest number of concurrent rows.", digits(n))
}

func (r view) writersTable(o ChannelOptions, written []database) page.Table {
	t := page.Table{Caption: "rows per second, and the memory of the writing program (0 if the system does not report it)", Columns: newColumns("goroutines")}
	for _, n := range o.Writers {
		t.Rows = append(t.Rows, page.Row(readable.Number(int64(n))))
	}
	for _, d := range written {
		var names []string
		for i, n := range o.Writers {
			name := insertName(d.impl, n)
			names = append(names, name)
			t.Rows[i] = append(t.Rows[i], r.medianCell(name, rowsPerSecond, 1), r.medianCell(name, clientRSS, megabyte), r.medianCell(name, connectionsUnit, 1))
		}
		r.markBest(t.Rows, len(t.Columns), results.NsPerOp, names)
		t.Columns = append(t.Columns, newColumns("", d.name+": rows/s", "MB", "connections")[1:]...)
	}
	return t
}

func (r view) writersChart(o ChannelOptions, written []database) plot.Chart {
	c := plot.Chart{Title: "Rows per second against goroutines", X: plot.Axis{Label: "writing goroutines", Log: true}, Y: plot.Axis{Label: "rows per second", Log: true}}
	for _, d := range written {
		c.Lines = append(c.Lines, r.medianLine(d.name, o.Writers, rowsPerSecond, func(n int) string { return insertName(d.impl, n) }))
	}
	return c
}
