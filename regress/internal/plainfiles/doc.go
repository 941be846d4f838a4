// Package plainfiles turns goldens into plain files and back: for people who
// want to look at them with their own tools, and to tell whether two goldens
// say the same. Two goldens have equal exports exactly when all their cases
// have equal outcomes, as far as outcomes are compared, and when they were
// recorded with the same flags and selection, both with an engine or both without.
//
// An export is a folder:
//
//	golden.json                  version of this format, number of cases, flags, selection, engine
//	NAME.case/outcome.json       the case NAME: its endings and its parts
//	NAME.case/stdout             contents, byte for byte
//	NAME.case/stderr
//	NAME.case/files/PATH
//
// golden.json is there because a check takes flags and selection from the golden: a golden
// that was imported without them would be checked under other rules, with
// headers, over other cases. An engine gives one exit status for what are two endings on
// one machine, which a check has to know. It can't be part of a case: there may be none.
// With the number of cases in it, one that is lost on the way is not lost without a word.
//
// Left out is what says where and when: times, costs, machine, command, sources, accepts.
// Of a flaky part there are only the shapes in which it was seen. Of endings that differ
// there is the set, whichever run was first. Of a case that was stopped there is only how.
// The target of a symbolic link is the content of a plain file: an export has no links, so
// no tool follows one.
//
// Names in the file system are printable forms. Each part of NAME and PATH is
// what package name prints for it (%XX for odd bytes); of more than 200 bytes
// it is their beginning, "%~", and 32 hexadecimal digits of the SHA-256 of the
// raw part. The true names stand in outcome.json. No two cases can meet: a
// folder that ends in ".case" is always a case, since a part of a name that
// ends so and is not its last is written with "%2Ecase", and likewise a first
// part "golden.json". So is ".git" anywhere, which leaves an export free to
// live in a repository. A file system that takes two of our names for one,
// because it ignores case for example, gives an error.
//
// It must not know how a golden is stored.
package plainfiles
