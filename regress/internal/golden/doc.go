// Package golden stores outcomes: one per case, with the contents of its parts. Contents are
// addressed by digest and stored once. The file format has two uses: the golden of a check, and the
// differing outcomes of a run. Comments call both a store.
//
// A store is one SQLite file in rollback-journal mode, without other files beside it at rest. A
// Writer builds a new one under another name and renames it at the end. A Store reads one. Update
// changes one in place, in a single transaction. All three detect damage: opening checks a digest
// over all rows, and reading checks the digest of the content.
//
// It must not judge outcomes, and it runs nothing. README.md has the layout and measurements.
package golden
