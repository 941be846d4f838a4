package lab

// Units besides those of time, which package results has.
const (
	threads    = "threads"
	rss        = "rss-B/op"
	stack      = "stack-B/op"
	sys        = "sys-B/op"
	portion    = "s/portion"
	wire       = "wire-B" // of an encoded message
	procsUnit  = "procs"
	exitStatus = "exit-status" // of how a program ended

	// Of the steps of probe.Files.
	createUnit = "create-ns/op"
	readUnit   = "read-ns/op"
	statUnit   = "stat-ns/op"
	renameUnit = "rename-ns/op"
	removeUnit = "remove-ns/op"

	// Of a store of files.
	putUnit = "put-ns/op"
	getUnit = "get-ns/op"

	// Of those who write to a database.
	rowsPerSecond = "rows/s"
	clientRSS     = "rss-B" // at the end, of the whole process
	connections   = "connections"
)
