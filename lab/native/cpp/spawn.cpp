// What a call costs in a std::thread of its own.
#include <cmath>
#include <memory>
#include <system_error>

#include "bench.h"

namespace {

const int statusNoMore = 9;

struct Options {
	std::string impl, mode;
	long work = 10, count = 100000;
};

Options parse(int argc, char **argv) {
	Options o;
	for (int i = 1; i < argc; i += 2) {
		std::string flag = argv[i], v = bench::value(argc, argv, i);
		if (flag == "-impl") o.impl = v;
		else if (flag == "-mode") o.mode = v;
		else if (flag == "-work") o.work = std::atol(v.c_str());
		else if (flag == "-count") o.count = std::atol(v.c_str());
		else {
			std::fprintf(stderr, "unknown flag %s\n", flag.c_str());
			std::exit(2);
		}
	}
	if (o.impl != "cpp-thread" || o.work < 1 || o.count < 1) {
		std::fprintf(stderr, "unknown -impl, or -work or -count below 1\n");
		std::exit(2);
	}
	return o;
}

// roots computes square roots that depend on one another, so that none can be left out.
__attribute__((noinline)) double roots(long n, long from) {
	double x = double(from & 0xff) + 2;
	for (long i = 0; i < n; i++) x = std::sqrt(x) + 1;
	return x;
}

// resident is this process's resident memory in bytes; 0 = cannot be told.
long resident() {
	long pages = 0, ignored;
	if (FILE *f = std::fopen("/proc/self/statm", "r")) {
		if (std::fscanf(f, "%ld %ld", &ignored, &pages) != 2) pages = 0;
		std::fclose(f);
	}
	return pages * sysconf(_SC_PAGESIZE);
}

// start is a thread; where the system refuses one, the program ends.
template <class F>
std::thread start(long had, F f) {
	try {
		return std::thread(f);
	} catch (const std::system_error &e) {
		std::fprintf(stderr, "the system gives no more than %ld threads: %s\n", had, e.what());
		_exit(statusNoMore);
	}
}

// Call is one in a thread of its own, which holds the result until it is taken.
struct Call {
	std::thread thread;
	std::atomic<int> taken{0}; // an int is what the kernel can wait for
	double result = 0;
};

double each(long n, long work) {
	std::unique_ptr<Call[]> calls(new Call[std::size_t(n)]);
	for (long i = 0; i < n; i++) {
		Call *c = &calls[std::size_t(i)];
		c->thread = start(i, [c, work, i] {
			c->result = roots(work, i);
			c->taken.wait(0);
		});
	}
	double sum = 0;
	for (long i = 0; i < n; i++) {
		Call &c = calls[std::size_t(i)];
		c.taken = 1;
		c.taken.notify_one();
		c.thread.join();
		sum += c.result;
	}
	return sum;
}

using Clock = std::chrono::steady_clock;

void print(const Options &o, std::chrono::duration<double> wall, double cpu, const std::string &more) {
	double n = double(o.count);
	std::printf("BenchmarkSpawn/impl=%s/mode=%s/work=%ld %ld %.2f ns/op %.2f cpu-ns/op%s\n", o.impl.c_str(),
	            o.mode.c_str(), o.work, o.count, wall.count() * 1e9 / n, cpu * 1e9 / n, more.c_str());
	std::fflush(stdout);
}

// measure runs a little to warm up, then once by the clock.
template <class F>
int measure(const Options &o, long warm, F run) {
	double sum = run(std::min(o.count, warm));
	double cpu = bench::cpuSeconds();
	auto began = Clock::now();
	sum += run(o.count);
	std::chrono::duration<double> wall = Clock::now() - began;
	cpu = bench::cpuSeconds() - cpu;
	if (std::isnan(sum)) return 1;
	print(o, wall, cpu, "");
	return 0;
}

// waiting ends the program with its threads, which wait for ever.
[[noreturn]] void waiting(const Options &o) {
	each(std::min(o.count, 100L), 1);
	static std::atomic<long> there{0};
	static std::atomic<int> open{0};
	long before = resident();
	double cpu = bench::cpuSeconds();
	auto began = Clock::now();
	for (long i = 0; i < o.count; i++)
		start(i, [] {
			there++;
			open.wait(0);
		}).detach();
	std::chrono::duration<double> wall = Clock::now() - began;
	cpu = bench::cpuSeconds() - cpu;
	while (there < o.count) std::this_thread::yield();
	long after = resident();
	std::string more;
	if (after > 0) {
		char text[64];
		std::snprintf(text, sizeof text, " %.2f rss-B/op", double(after - before) / double(o.count));
		more = text;
	}
	print(o, wall, cpu, more);
	_exit(0);
}

}  // namespace

int main(int argc, char **argv) {
	auto o = parse(argc, argv);
	if (o.mode == "each") return measure(o, 1000, [&](long n) { return each(n, o.work); });
	if (o.mode == "waiting") waiting(o);
	return bench::statusNoSuchMode;
}
