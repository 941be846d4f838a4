// What all C++ contestants share: the command line, the tasks, the clock and the line
// of the result. See ../README.md for what the modes are.
#pragma once

#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <climits>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace bench {

struct Options {
	std::string impl, mode;
	int workers = 2;
	long tasks = 1000000;
	long patience = 20000;  // in ms
};

inline const char *value(int argc, char **argv, int i) {
	if (i + 1 >= argc) {
		std::fprintf(stderr, "%s needs a value\n", argv[i]);
		std::exit(2);
	}
	return argv[i + 1];
}

// parse ends the program for what means nothing; impls are those that it has.
inline Options parse(int argc, char **argv, std::initializer_list<const char *> impls) {
	Options o;
	for (int i = 1; i < argc; i += 2) {
		std::string flag = argv[i], v = value(argc, argv, i);
		if (flag == "-impl") o.impl = v;
		else if (flag == "-mode") o.mode = v;
		else if (flag == "-workers") o.workers = std::atoi(v.c_str());
		else if (flag == "-tasks") o.tasks = std::atol(v.c_str());
		else if (flag == "-patience") o.patience = std::atol(v.c_str());
		else {
			std::fprintf(stderr, "unknown flag %s\n", flag.c_str());
			std::exit(2);
		}
	}
	if (std::find(impls.begin(), impls.end(), o.impl) == impls.end()) {
		std::fprintf(stderr, "unknown -impl %s\n", o.impl.c_str());
		std::exit(2);
	}
	if (o.workers < 1 || o.tasks < 1 || o.patience < 1) {
		std::fprintf(stderr, "-workers, -tasks and -patience must be 1 or more\n");
		std::exit(2);
	}
	return o;
}

// trivial costs next to nothing, yet no call of it can be left out: the compiler does
// not know that no number is that large.
__attribute__((noinline)) inline void trivial(long n) {
	if (n == LONG_MAX) std::abort();
	asm volatile("");
}

// spin keeps a processor busy for a millisecond.
inline void spin() {
	auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(1);
	while (std::chrono::steady_clock::now() < until) {
	}
}

// The tasks of mode makespan: 64 long ones, side by side among short ones.
const long makespanTasks = 10000, longFirst = 5000, longCount = 64;

inline void mixed(long n) {
	if (n >= longFirst && n < longFirst + longCount) spin();
	else trivial(n);
}

// Meeting has every task wait until so many of them have come.
class Meeting {
	std::mutex m_;
	std::condition_variable all_;
	const int size_;
	int come_ = 0;
	long round_ = 0;
	std::atomic<int> inside_{0};

	struct Inside {
		std::atomic<int> &n;
		explicit Inside(std::atomic<int> &n) : n(n) { n++; }
		~Inside() { n--; }
	};

public:
	explicit Meeting(int size) : size_(size) {}
	bool inside() const { return inside_ > 0; }
	void wait() {
		Inside in(inside_);
		std::unique_lock<std::mutex> l(m_);
		long round = round_;
		if (++come_ == size_) {
			come_ = 0;
			round_++;
			all_.notify_all();
			return;
		}
		all_.wait(l, [&] { return round_ != round; });
	}
};

const long barrierRounds = 300;
const int producerCount = 8;

inline double cpuSeconds() {
	rusage u{};
	getrusage(RUSAGE_SELF, &u);
	auto s = [](timeval t) { return double(t.tv_sec) + double(t.tv_usec) / 1e6; };
	return s(u.ru_utime) + s(u.ru_stime);
}

// endAfter has a deadlock end the program, with a status of its own; 0 = not any more.
inline void endAfter(long ms) {
	itimerval t{};
	t.it_value.tv_sec = ms / 1000;
	t.it_value.tv_usec = ms % 1000 * 1000;
	setitimer(ITIMER_REAL, &t, nullptr);
}

const int statusDeadlock = 7, statusNoSuchMode = 8;

// measure runs once to warm up, then once by the clock, and prints the result.
inline int measure(const Options &o, long n, const std::function<void(long)> &run) {
	std::signal(SIGALRM, [](int) { _exit(statusDeadlock); });
	endAfter(o.patience);
	run(std::min(n, 20000L));
	endAfter(0);
	double cpu = cpuSeconds();
	auto began = std::chrono::steady_clock::now();
	if (o.mode == "barrier") endAfter(o.patience);
	run(n);
	std::chrono::duration<double> wall = std::chrono::steady_clock::now() - began;
	cpu = cpuSeconds() - cpu;
	std::printf("BenchmarkDispatch/impl=%s/mode=%s/workers=%d %ld %.2f ns/op %.2f cpu-ns/op\n", o.impl.c_str(),
	            o.mode.c_str(), o.workers, n, wall.count() * 1e9 / double(n), cpu * 1e9 / double(n));
	return 0;
}

// compete runs a pool in the mode that is asked for. A pool has submit, for anything that
// can be called, and wait, which returns when all that was submitted is done.
template <class Pool>
int compete(const Options &o, Pool &p) {
	if (o.mode == "single")
		return measure(o, o.tasks, [&](long n) {
			for (long i = 0; i < n; i++) p.submit([i] { trivial(i); });
			p.wait();
		});
	if (o.mode == "producers")
		return measure(o, o.tasks, [&](long n) {
			std::vector<std::thread> producers;
			for (int k = 0; k < producerCount; k++)
				producers.emplace_back([&p, n] {
					for (long i = 0; i < n / producerCount; i++) p.submit([i] { trivial(i); });
				});
			for (auto &t : producers) t.join();
			p.wait();
		});
	if (o.mode == "makespan")
		return measure(o, makespanTasks, [&](long n) {
			for (long i = 0; i < n; i++) p.submit([i] { mixed(i); });
			p.wait();
		});
	if (o.mode == "barrier")
		return measure(o, barrierRounds, [&](long n) {
			Meeting m(o.workers);
			for (long i = 0; i < n; i++) {
				for (int k = 0; k < o.workers; k++) p.submit([&m] { m.wait(); });
				p.wait();
			}
		});
	return statusNoSuchMode;
}

// waitByMeeting is wait for pools that start tasks in order, and have no wait of their
// own: when every worker has come to a task behind all others, those are done.
template <class Pool>
void waitByMeeting(Pool &p, int workers) {
	Meeting m(workers + 1);
	for (int k = 0; k < workers; k++) p.submit([&m] { m.wait(); });
	m.wait();
	// The last of them may still be inside the meeting, which must outlive it.
	while (m.inside()) std::this_thread::yield();
}

}  // namespace bench
