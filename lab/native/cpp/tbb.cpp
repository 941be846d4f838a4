// oneTBB: task_group, task_arena::enqueue and parallel_for.
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include "bench.h"

namespace {

// The arena has a place for the thread that submits, besides those of the workers.
struct Group {
	tbb::task_arena arena;
	tbb::task_group group;
	explicit Group(int workers) : arena(workers, 0) {}
	template <class F>
	void submit(F f) {
		group.run(f);
	}
	void wait() { group.wait(); }
};

// Arena counts what is done by thread, each on a line of its own, and looks at the sum:
// one counter for all would cost more than what is measured.
struct Arena {
	struct alignas(128) Count {
		std::atomic<long> n{0};
	};
	static constexpr int threadsMax = 256;

	tbb::task_arena arena;
	std::vector<Count> done;
	std::atomic<long> submitted{0};
	std::atomic<int> threads{0};
	bool many;

	Arena(int workers, bool many) : arena(workers, 0), done(threadsMax), many(many) {}

	void count() {
		thread_local int mine = threads++;
		auto &n = done[std::size_t(mine)].n;
		n.store(n.load(std::memory_order_relaxed) + 1, std::memory_order_release);
	}
	template <class F>
	void submit(F f) {
		if (many) submitted.fetch_add(1, std::memory_order_relaxed);
		else submitted.store(submitted.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
		arena.enqueue([this, f] {
			f();
			count();
		});
	}
	void wait() {
		for (;;) {
			long sum = 0;
			for (auto &c : done) sum += c.n.load(std::memory_order_acquire);
			if (sum == submitted) return;
			std::this_thread::sleep_for(std::chrono::microseconds(50));
		}
	}
};

}  // namespace

int main(int argc, char **argv) {
	auto o = bench::parse(argc, argv, {"tbb-group", "tbb-enqueue", "tbb-parallel-for", "tbb-pointer"});
	// The thread that submits is one of TBB's workers where it waits.
	bool enqueue = o.impl == "tbb-enqueue";
	tbb::global_control limit(tbb::global_control::max_allowed_parallelism, std::size_t(o.workers) + (enqueue ? 1 : 0));
	if (o.impl == "tbb-parallel-for") {
		if (o.mode != "foreach") return bench::statusNoSuchMode;
		return bench::measure(o, o.tasks, [](long n) { tbb::parallel_for(0L, n, [](long i) { bench::trivial(i); }); });
	}
	if (o.impl == "tbb-pointer") {
		if (o.mode != "foreach") return bench::statusNoSuchMode;
		// Through a pointer of which the compiler knows nothing, as Go calls the value of a
		// function.
		void (*body)(long) = bench::trivial;
		asm volatile("" : "+r"(body));
		return bench::measure(o, o.tasks, [body](long n) { tbb::parallel_for(0L, n, [body](long i) { body(i); }); });
	}
	if (enqueue) {
		Arena p(o.workers, o.mode == "producers");
		return bench::compete(o, p);
	}
	Group p(o.workers);
	return bench::compete(o, p);
}
