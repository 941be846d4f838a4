// Boost.Asio's thread_pool.
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>

#include "bench.h"

namespace {

struct Pool {
	boost::asio::thread_pool pool;
	int workers;
	explicit Pool(int workers) : pool(std::size_t(workers)), workers(workers) {}
	template <class F>
	void submit(F f) {
		boost::asio::post(pool, f);
	}
	void wait() { bench::waitByMeeting(*this, workers); }
	~Pool() { pool.join(); }
};

}  // namespace

int main(int argc, char **argv) {
	auto o = bench::parse(argc, argv, {"asio"});
	Pool p(o.workers);
	return bench::compete(o, p);
}
