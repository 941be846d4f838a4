package regress

import (
	"muster/regress/internal/console"
	"muster/regress/internal/golden"
	"muster/regress/internal/mirror"
)

// listOwnFiles lists the files that muster itself writes. In a corpus that is the current folder,
// they are not cases.
func listOwnFiles(o *Options) []string {
	own := []string{o.Store.State}
	if !mirror.IsAddress(o.Store.Golden) {
		own = append(own, golden.Files(o.Store.Golden)...)
	}
	return append(own, console.Paths(&o.Report)...)
}

// checkDistinct refuses one file under two names among what a run reads and writes.
func checkDistinct(o *Options) error {
	return console.CheckApart(&o.Report, console.File{Role: "the corpus", Path: o.Corpus.Path}, console.File{Role: "--golden", Path: o.Store.Golden})
}

// checkReplaceable refuses to write a report over a file that is no older report.
func checkReplaceable(r *Report) error { return console.CheckReplaceable(r) }
