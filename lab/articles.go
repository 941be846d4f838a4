package lab

// An article is a source of claims.
type article struct {
	key     string // A1 …
	title   string
	address string
	machine string // hardware and software of its measurements
}

func articles() []article {
	return []article{
		{"A1", "Multithreaded Go programming (2011)", "habr.com/ru/post/117842; C++ threads against Go threads, easy-coding.blogspot.com, 18 April 2011",
			"8 processors, 64-bit Linux, Go (early 2011), Boost 1.46.1"},
		{"A2", "Go: multithreading (2013)", "habr.com, an answer to habrahabr.ru/post/195574", "4 cores of 3 GHz, 4 GB, Linux 3.11, Go 1.1.2"},
		{"A3", "Go: goroutine performance (2012)", "habr.com/ru/post/135587", "a nettop with 2 cores"},
		{"A4", "Solve the problem of creating too many threads for Go file operation (2021)", "and its repository GoFsBench", "two virtual machines and a hard disk"},
	}
}

// A claim is one statement of an article.
type claim struct {
	number    int
	article   string
	statement string // the statement, with the article's figures
	condition string // condition on the figures of this machine
	decide    func(*judge) finding
}

// claims returns all claims, in the order of the articles.
func claims() []claim {
	return []claim{
		{1, "A1", "Compiling 15,000 sources one after another leaves the processors 70 to 88 % idle (213.81 s elapsed, 248.64 s of processor time, 8 processors).",
			"0.5 to 1.3 processors are busy", (*judge).sequentialIdles},
		{2, "A1", "A pool with one worker takes about 2 % longer (217.87 s instead of 213.81 s).", "at most 5 % longer", (*judge).oneWorker},
		{3, "A1", "A pool with 32 workers is 5.6 times as fast on 8 processors, which stay 17 % idle.", "at least 0.7 times as fast per processor", (*judge).manyWorkers},
		{4, "A1", "A custom program is faster than make -j (stated, not measured).", "takes less time than GNU make with the same number of jobs", (*judge).fasterThanMake},
		{5, "A1", "Twice as many workers as processors keep them busy without needless switches.", "at least 1 % faster than with one worker per processor", (*judge).twoWorkersEach},
		{6, "A1", "At GOMAXPROCS 1 Go dispatches a trivial task about nine times as fast as C++ with Boost (38.27 s instead of 327.37 s for 100,000,000 tasks, 8 workers).",
			"at least six times as fast", (*judge).dispatchOne},
		{7, "A1", "At GOMAXPROCS 8 Go is nearly as slow as C++.", "takes at least 70 % of C++'s time", (*judge).dispatchMany},
		{8, "A2", "A channel is fastest at GOMAXPROCS 1.", "no other value is faster", (*judge).channelFastest},
		{9, "A2", "At GOMAXPROCS 2 a channel is about two times slower, while threads mostly sleep.", "takes 1.5 to 2.5 times as long", (*judge).channelTwo},
		{10, "A2", "From GOMAXPROCS 3 to 256 each step regains a little; about 10 % remains lost.", "256 is at least 1 % faster than 2, and takes 2 to 25 % longer than 1", (*judge).channelRegains},
		{11, "A2", "The process has 3 threads at GOMAXPROCS 1, and 4, sometimes 5 or 6, from 2 on, for any number of processors.", "3 threads at 1, and 4 to 6 at 2 and at 256", (*judge).channelThreads},
		{12, "A2", "GOMAXPROCS cannot exceed 256, and defaults to 1.", "a request for 300 gives at most 256, and the default is 1", (*judge).procsLimit},
		{13, "A2", "With enough work beside the channel, more processors win.", "with 1,000,000 loop iterations per item (about 0.3 ms), GOMAXPROCS 2 takes at most 0.8 of the time of 1", (*judge).ballastWins},
		{14, "A2", "Whether more processors help depends on the task.", "GOMAXPROCS 2 is slower than 1 for some number of cycles, and faster for another", (*judge).dependsOnTask},
		{15, "A2", "1,000 goroutines write to a database about 10 times as fast as 20, nearly in proportion, and take 40 MB.", "at least 5 times as fast", (*judge).manyWriters},
		{16, "A2", "N processes with GOMAXPROCS 1 on N processors do N times as much (a reader's comment).", "at least 0.9 × N times as much", (*judge).manyProcesses},
		{17, "A3", "A goroutine takes 4 to 4.5 KB; 5 GB suffice for a million.", "4,000 to 4,700 bytes", (*judge).goroutineBytes},
		{18, "A3", "A call of one square root takes about 4 times as long in a goroutine.", "3 to 5 times as long", (*judge).oneRoot},
		{19, "A3", "With ten roots a goroutine costs about 20 %, or 80 % with 700,000 alive; with a hundred roots 2 %.", "at most 50 % with ten roots, and at most 5 % with a hundred", (*judge).tenRoots},
		{20, "A3", "With 1,000 roots a goroutine costs 2 %, with 5,000 roots 1 %.", "at most 4 %, and at most 2 %", (*judge).manyRoots},
		{21, "A3", "For the two smallest functions, goroutines are slower at GOMAXPROCS 2 than at 1.", "slower for both", (*judge).smallWithTwo},
		{22, "A3", "For the two largest functions, goroutines use both cores almost fully.", "at least 1.8 times as fast at GOMAXPROCS 2, for both", (*judge).largeWithTwo},
		{23, "A3", "Do not use a goroutine for less than 1 µs of work; use it freely above 1 ms.", "a goroutine adds at least a tenth to 1 µs, and at most a hundredth to 1 ms", (*judge).goroutineOverhead},
		{24, "A3", "Erlang has run 20 million processes (quoted).", "this machine has enough memory for 20 million", (*judge).erlangMemory},
		{25, "A4", "500 connections that upload 50 KB without a pool: 1,176 uploads a second, 512 system threads.", "the server has at least 250 threads", (*judge).uploadsDirect},
		{26, "A4", "With a pool of 32 threads in Go: 1,154 uploads a second (0.98 times as many), 48 threads.", "at most 64 threads, and 0.91 to 1.05 times as many uploads", (*judge).uploadsPool},
		{27, "A4", "With a pool of 32 threads in C, bound to processors: 1,045 uploads a second (0.89 times as many), 50 threads.", "at most 64 threads, and 0.82 to 0.96 times as many uploads", (*judge).uploadsBound},
		{28, "A4", "With a pool of 32 threads in C, not bound: 1,102 uploads a second (0.94 times as many), 50 threads.", "at most 64 threads, and 0.87 to 1.01 times as many uploads", (*judge).uploadsUnbound},
		{29, "A4", "Uploads of 5,000 bytes: 7,913 a second, 6.7 times as many.", "at least 4 times as many", (*judge).uploadsSmall},
		{30, "A4", "A regular file cannot be polled, so each waiting operation keeps a thread, and Go ends a program with more than 10,000 threads.",
			"Go ends a program that exceeds the limit", (*judge).threadLimit},
		{31, "A4", "Over 500 connections, protobuf transfers 157,000 messages a second, and JSON 114,000: 1.38 times as many.", "1.2 to 1.6 times as many", (*judge).protobufMessages},
		{32, "A4", "Renaming two million files takes 183 to 320 s into one folder, and 33 to 46 s into ten: 4 to 9 times as fast.", "at least twice as fast", (*judge).renamesIntoTen},
	}
}
