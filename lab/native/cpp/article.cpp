// The thread pool of the article "C++ threads against Go threads" (2011): one queue of
// functions, one mutex, one condition variable. Compiled with -DBOOST it is made of
// Boost's parts, as there, else of the standard library's.
#ifdef BOOST
#include <boost/function.hpp>
#include <boost/thread.hpp>
namespace lib = boost;
#else
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
namespace lib = std;
#endif

#include <queue>

#include "bench.h"

namespace {

class Pool {
	lib::mutex mutex_;
	lib::condition_variable some_;
	std::queue<lib::function<void()>> queue_;
	std::vector<lib::thread *> threads_;
	bool ended_ = false;

	void work() {
		for (;;) {
			lib::function<void()> task;
			{
				lib::unique_lock<lib::mutex> l(mutex_);
				while (queue_.empty() && !ended_) some_.wait(l);
				if (queue_.empty()) return;
				task = queue_.front();
				queue_.pop();
			}
			task();
		}
	}

public:
	explicit Pool(int workers) {
		for (int k = 0; k < workers; k++) threads_.push_back(new lib::thread([this] { work(); }));
	}
	template <class F>
	void submit(F f) {
		lib::unique_lock<lib::mutex> l(mutex_);
		queue_.push(f);
		some_.notify_one(); // under the lock, as the article does: after it, a task takes more than twice the time
	}
	void wait() { bench::waitByMeeting(*this, int(threads_.size())); }
	~Pool() {
		{
			lib::unique_lock<lib::mutex> l(mutex_);
			ended_ = true;
		}
		some_.notify_all();
		for (auto *t : threads_) {
			t->join();
			delete t;
		}
	}
};

}  // namespace

int main(int argc, char **argv) {
#ifdef BOOST
	auto o = bench::parse(argc, argv, {"cpp-boost"});
#else
	auto o = bench::parse(argc, argv, {"cpp-std"});
#endif
	Pool p(o.workers);
	return bench::compete(o, p);
}
