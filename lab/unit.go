package lab

// Units besides those of time, which package results defines.
const (
	threadsUnit    = "threads"
	rssUnit        = "rss-B/op"
	stackUnit      = "stack-B/op"
	sysUnit        = "sys-B/op"
	portionUnit    = "s/portion"
	wireUnit       = "wire-B" // size of an encoded message
	procsUnit      = "procs"
	exitStatusUnit = "exit-status" // exit status of a program

	// Steps of probe.Files.
	createUnit = "create-ns/op"
	readUnit   = "read-ns/op"
	statUnit   = "stat-ns/op"
	renameUnit = "rename-ns/op"
	removeUnit = "remove-ns/op"

	// A store of files.
	putUnit = "put-ns/op"
	getUnit = "get-ns/op"

	// Writers to a database.
	rowsPerSecond   = "rows/s"
	clientRSS       = "rss-B" // of the whole process, at the end
	connectionsUnit = "connections"
)
