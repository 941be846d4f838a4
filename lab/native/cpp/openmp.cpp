// OpenMP tasks: one thread makes them, the team runs them.
#include <omp.h>

#include "bench.h"

namespace {

// run has one thread of a team call f.
template <class F>
void run(int workers, F f) {
#pragma omp parallel num_threads(workers)
#pragma omp single
	f();
}

}  // namespace

int main(int argc, char **argv) {
	auto o = bench::parse(argc, argv, {"openmp"});
	if (o.mode == "foreach")
		return bench::measure(o, o.tasks, [&](long n) {
#pragma omp parallel for num_threads(o.workers)
			for (long i = 0; i < n; i++) bench::trivial(i);
		});
	if (o.mode == "single")
		return bench::measure(o, o.tasks, [&](long n) {
			run(o.workers, [n] {
				for (long i = 0; i < n; i++) {
#pragma omp task firstprivate(i)
					bench::trivial(i);
				}
			});
		});
	if (o.mode == "makespan")
		return bench::measure(o, bench::makespanTasks, [&](long n) {
			run(o.workers, [n] {
				for (long i = 0; i < n; i++) {
#pragma omp task firstprivate(i)
					bench::mixed(i);
				}
			});
		});
	if (o.mode == "barrier")
		return bench::measure(o, bench::barrierRounds, [&](long n) {
			bench::Meeting meeting(o.workers);
			auto *m = &meeting;
			run(o.workers, [&] {
				for (long i = 0; i < n; i++) {
					for (int k = 0; k < o.workers; k++) {
#pragma omp task
						m->wait();
					}
#pragma omp taskwait
				}
			});
		});
	return bench::statusNoSuchMode;
}
