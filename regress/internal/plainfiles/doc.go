// Package plainfiles turns goldens into plain files and back. People can read the files with their
// own tools, and compare goldens. Two goldens have equal exports exactly if all compared parts of
// their outcomes are equal, and they were recorded with the same flags and selection, both with an
// engine or both without.
//
// An export is a folder:
//
//	golden.json                  version of this format, number of cases, flags, selection, engine
//	NAME.case/outcome.json       the case NAME: its endings and its parts
//	NAME.case/stdout             contents, byte for byte
//	NAME.case/stderr
//	NAME.case/files/PATH
//
// golden.json has the flags and the selection, because a check takes them from the golden. Without
// them a check of the imported golden would use other rules, headers and cases. It records an
// engine, because an engine returns one exit status for two endings of a local machine. The number
// of cases reveals a lost case.
//
// An export leaves out where and when: times, costs, machine, command, sources, accepts. It has
// only the shapes of a flaky part, the set of endings if they differ, and only the ending of a
// stopped case. The target of a symbolic link is the content of a plain file: an export has no
// links, so no tool follows one.
//
// Names in the file system are printable forms. Each part of NAME and PATH is printed by package
// name (%XX for odd bytes). A part of more than 200 bytes becomes its beginning, "%~", and 32
// hexadecimal digits of the SHA-256 of the raw part. The true names are in outcome.json. Names
// cannot collide. A folder that ends in ".case" is always a case: any other part with that ending
// is written with "%2Ecase". A first part "golden.json" and the part ".git" are escaped likewise,
// so that an export can be in a repository. If a file system takes two names for one, for example
// because it ignores case, Export fails.
//
// It must not know how a golden is stored.
package plainfiles
