package lab

// An article is one whose claims are measured again.
type article struct {
	key     string // A1 …
	title   string
	address string
	machine string // and the software of then
}

func articles() []article {
	return []article{
		{"A1", "Multithreaded Go programming (2011)", "habr.com/ru/post/117842; C++ threads against Go threads, easy-coding.blogspot.com, 18 April 2011",
			"8 processors, 64-bit Linux, Go of early 2011, Boost 1.46.1"},
		{"A2", "Go: multithreading (2013)", "habr.com, an answer to habrahabr.ru/post/195574", "4 cores of 3 GHz, 4 GB, Linux 3.11, Go 1.1.2"},
		{"A3", "Go: goroutine performance (2012)", "habr.com/ru/post/135587", "a nettop with 2 cores"},
		{"A4", "Solve the problem of creating too many threads for Go file operation (2021)", "and its repository GoFsBench", "two virtual machines and a hard disk"},
	}
}

// A claim is one thing that an article says.
type claim struct {
	number  int
	article string
	says    string // in our words, with its figures
	holds   string // what must be measured here for it to hold
	judge   func(*judge) finding
}

// claims are all that the articles say, in their order.
func claims() []claim {
	return []claim{
		{1, "A1", "15,000 sources compiled one after another leave the processors 70 to 88 % idle (213.81 s for 248.64 s of processor time, on 8).",
			"about one processor is busy, 1.3 at most", (*judge).sequentialIdles},
		{2, "A1", "A pool with one worker costs about 2 % (217.87 s for 213.81).", "5 % or less", (*judge).oneWorker},
		{3, "A1", "A pool with 32 workers is 5.6 times as fast on 8 processors, and leaves 17 % idle.", "0.7 times as fast for each processor", (*judge).manyWorkers},
		{4, "A1", "A program of one's own does better than make -j (said, not measured).", "less time than GNU make with as many jobs", (*judge).better},
		{5, "A1", "Twice as many workers as processors keep them busy without needless switches.", "faster than with one worker for each", (*judge).twice},
		{6, "A1", "Go, at GOMAXPROCS 1, hands out a trivial task about nine times as fast as C++ with Boost (38.27 s for 327.37, 100,000,000 tasks, 8 workers).",
			"six times as fast or more", (*judge).dispatchOne},
		{7, "A1", "With GOMAXPROCS 8 Go falls to nearly the times of C++.", "70 % of C++'s time or more", (*judge).dispatchMany},
		{8, "A2", "A channel is fastest at GOMAXPROCS 1.", "no other is faster", (*judge).channelFastest},
		{9, "A2", "At GOMAXPROCS 2 it is about two times slower, when threads mostly sleep.", "1.5 to 2.5 times", (*judge).channelTwo},
		{10, "A2", "From 3 to 256 every step regains a little; about 10 % is lost for good.", "256 is faster than 2, and 2 to 25 % slower than 1", (*judge).channelRegains},
		{11, "A2", "There are 3 threads at GOMAXPROCS 1, and 4, sometimes 5 or 6, at 2 and above, however many processors.", "3, and then 4 to 6", (*judge).channelThreads},
		{12, "A2", "GOMAXPROCS cannot exceed 256, and is 1 by default.", "it is so", (*judge).procsLimit},
		{13, "A2", "With enough work beside the channel more processors win.", "at 1,000,000 turns of a loop for each item, some 0.3 ms, 2 take less than 0.8 of the time of 1", (*judge).ballastWins},
		{14, "A2", "Whether more processors gain or lose depends on the task.", "they lose at some number of cycles and gain at another", (*judge).depends},
		{15, "A2", "Goroutines that write to a database are about 10 times as fast at 1,000 as at 20, nearly in proportion, in 40 MB.", "5 times as fast or more", (*judge).writers},
		{16, "A2", "N processes with GOMAXPROCS 1 on N processors do N times as much (a reader).", "0.9 of that or more", (*judge).processes},
		{17, "A3", "A goroutine takes 4 to 4.5 KB; 5 GB are enough for a million.", "4,000 to 4,700 bytes", (*judge).goroutineBytes},
		{18, "A3", "One square root takes about 4 times as long in a goroutine.", "3 to 5 times", (*judge).oneRoot},
		{19, "A3", "With ten roots about 20 % is lost, 80 % with 700,000 alive; with a hundred 2 %.", "half again as long or less with ten, 5 % or less with a hundred", (*judge).tenRoots},
		{20, "A3", "With 1,000 roots 2 % is lost, with 5,000 1 %.", "4 % or less, and 2 % or less", (*judge).manyRoots},
		{21, "A3", "GOMAXPROCS 2 makes goroutines with the two smallest functions slower than 1.", "slower for both", (*judge).smallWithTwo},
		{22, "A3", "The two largest use both cores almost fully.", "1.8 times as fast with GOMAXPROCS 2", (*judge).largeWithTwo},
		{23, "A3", "Do not use a goroutine for less than 1 µs of work; use it freely above 1 ms.", "it adds more than a tenth to 1 µs, and less than a hundredth to 1 ms", (*judge).advice},
		{24, "A3", "Erlang has run 20 million processes (quoted).", "this machine has the memory for as many", (*judge).erlang},
		{25, "A4", "500 connections that upload 50 KB without a pool: 1,176 a second, 512 threads of the system.", "the server has 250 threads or more", (*judge).uploadsDirect},
		{26, "A4", "With a pool of 32 in Go: 1,154 a second, 0.98 times as many, and 48 threads.", "64 threads or fewer, and 0.91 to 1.05 times as many", (*judge).uploadsPool},
		{27, "A4", "With a pool of 32 in C, bound to processors: 1,045 a second, 0.89 times as many, and 50 threads.", "64 threads or fewer, and 0.82 to 0.96 times as many", (*judge).uploadsBound},
		{28, "A4", "With a pool of 32 in C, not bound: 1,102 a second, 0.94 times as many, and 50 threads.", "64 threads or fewer, and 0.87 to 1.01 times as many", (*judge).uploadsUnbound},
		{29, "A4", "Uploads of 5,000 bytes: 7,913 a second, 6.7 times as many.", "4 times as many or more", (*judge).uploadsSmall},
		{30, "A4", "A regular file cannot be polled, so that each operation that waits holds a thread, and Go ends a program with more than 10,000.",
			"a program is ended so", (*judge).exhausted},
		{31, "A4", "Protobuf does 157,000 messages a second over 500 connections, JSON 114,000: 1.38 times as many.", "1.2 to 1.6 times", (*judge).messages},
		{32, "A4", "Two million files are renamed into one folder in 183 to 320 s, into ten in 33 to 46 s: 4 to 9 times as fast.", "twice as fast or more", (*judge).renames},
	}
}
