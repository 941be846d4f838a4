package probe

// ThreadsMax is the number of threads that Go allows a program by default. Programs change it
// with debug.SetMaxThreads.
const ThreadsMax = 10_000

// Exhaust starts a process that needs one thread after another, and measures how Go's runtime
// ends it. Its words are the command of that process, which measures [Block] with the same limit.
type Exhaust struct{ Limit int } // 0 = ThreadsMax

// Block is the process of [Exhaust]. Goroutines read from its standard input, a pipe without
// data, as they would from an unresponsive disk. They write the number of threads to its standard
// output. Each read keeps a thread, because the runtime's poller is not involved.
type Block struct{ Limit int } // threads; 0 = ThreadsMax
