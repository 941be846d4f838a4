package lab

import (
	"fmt"
	"slices"

	"muster/internal/plot"
	"muster/lab/page"
	"muster/lab/results"
)

// The databases as people call them.
const (
	postgresName = "PostgreSQL"
	sqliteName   = "SQLite"
)

// database is one that was written to.
type database struct{ impl, name string }

// writersSection shows goroutines that write to a database at the same time.
func (r view) writersSection(o ChannelOptions) page.Section {
	s := page.Section{Title: "Goroutines that write to a database"}
	written := slices.DeleteFunc([]database{{postgresImpl, postgresName}, {sqliteImpl, sqliteName}}, func(d database) bool {
		return !slices.ContainsFunc(o.Writers, func(n int) bool { return r.Summary(insertName(d.impl, n), rowsPerSecond).N > 0 })
	})
	if len(written) == 0 {
		s.Text = []string{"Nothing was written: what is not here stands among the conditions."}
		return s
	}
	s.Text = []string{fmt.Sprintf("They share %s rows of 100 bytes, each a transaction of its own that is on the disk when it returns. "+
		"Databases are in the system's folder for temporary files: its disk is what is measured too.", grouped(int64(o.Rows)))}
	s.Text = append(s.Text, r.writersClaim(o, written))
	var all []string
	for _, d := range written {
		s.Text = append(s.Text, r.connectionsText(o, d))
		for _, n := range o.Writers {
			all = append(all, insertName(d.impl, n))
		}
	}
	s.Tables = []page.Table{r.writersTable(o, written)}
	s.Charts = drawable(r.writersChart(o, written))
	s.Warnings = r.warnings(all)
	return s
}

// writersClaim is what an author said of their own program, and what was seen here.
func (r view) writersClaim(o ChannelOptions, written []database) string {
	text := "The author of the article of 2013 wrote below it that 1,000 goroutines write about 10 times as many rows as 20, and the program takes 40 MB."
	few, many := o.Writers[0], o.Writers[len(o.Writers)-1]
	if slices.Contains(o.Writers, 20) {
		few = 20
	}
	if few >= many {
		return text
	}
	for _, d := range written {
		text += fmt.Sprintf(" Here %s takes %s times as many rows from %s as from %d", d.name, ratioText(r.Ratio(insertName(d.impl, many), insertName(d.impl, few), rowsPerSecond)), grouped(int64(many)), few)
		if memory := r.Summary(insertName(d.impl, many), clientRSS); memory.Median > 0 {
			text += fmt.Sprintf(", and the program takes %s MB", digits(memory.Median/megabyte))
		}
		text += "."
	}
	return text
}

const megabyte = 1e6

// connectionsText says whether goroutines waited for one another's connections.
func (r view) connectionsText(o ChannelOptions, d database) string {
	if d.impl == sqliteImpl {
		return "SQLite lets one write at a time, so its goroutines take turns with one connection."
	}
	many := o.Writers[len(o.Writers)-1]
	n := r.Summary(insertName(d.impl, many), connections).Median
	if n <= 0 || n >= float64(many) {
		return "Each goroutine has a connection to PostgreSQL of its own, which there is a process."
	}
	return fmt.Sprintf("Each connection to PostgreSQL is a process there, and as it comes it allows %s. "+
		"More goroutines than that wait for one another's: more rows are not under way at a time.", digits(n))
}

func (r view) writersTable(o ChannelOptions, written []database) page.Table {
	t := page.Table{Caption: "rows each second, and the memory of the program that writes (0 where the system does not tell)", Columns: columns("goroutines")}
	for _, n := range o.Writers {
		t.Rows = append(t.Rows, page.Row(grouped(int64(n))))
	}
	for _, d := range written {
		var names []string
		for i, n := range o.Writers {
			name := insertName(d.impl, n)
			names = append(names, name)
			t.Rows[i] = append(t.Rows[i], r.cell(name, rowsPerSecond, 1), r.cell(name, clientRSS, megabyte), r.cell(name, connections, 1))
		}
		r.markBest(t.Rows, len(t.Columns), results.NsPerOp, names)
		t.Columns = append(t.Columns, columns("", d.name+": rows/s", "MB", "connections")[1:]...)
	}
	return t
}

func (r view) writersChart(o ChannelOptions, written []database) plot.Chart {
	c := plot.Chart{Title: "Rows each second against goroutines", X: plot.Axis{Label: "goroutines that write", Log: true}, Y: plot.Axis{Label: "rows each second"}}
	for _, d := range written {
		l := plot.Line{Name: d.name}
		for _, n := range o.Writers {
			l.Points = append(l.Points, r.points(float64(n), insertName(d.impl, n), rowsPerSecond)...)
		}
		c.Lines = append(c.Lines, l)
	}
	return c
}
