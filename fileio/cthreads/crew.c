//go:build linux && cgo

#define _GNU_SOURCE
#include "crew.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { NONE = -1 };

// A queue is a list of places, through the jobs' next.
typedef struct {
	int first, last, count;
} queue;

// Sleepers are threads that wait for a job. A waker counts them as awake at once, so that
// another waker does not count on the same threads.
typedef struct {
	pthread_cond_t some;
	int asleep, woken;
} sleepers;

typedef struct {
	crew *crew;
	pthread_t thread;
	int light; // executes only light jobs
	int id, cpu;
} member;

struct crew {
	pthread_mutex_t mu; // guards all of the next block
	pthread_cond_t ready;
	queue heavy, light;
	sleepers heavy_some, light_some;
	int begun; // threads that have stored their id
	int end;

	pthread_mutex_t done_mu; // guards done
	queue done;
	int event;

	job *jobs;
	member *members;
	int started;
};

static void append(crew *c, queue *q, int place) {
	c->jobs[place].next = NONE;
	if (q->first == NONE)
		q->first = place;
	else
		c->jobs[q->last].next = place;
	q->last = place;
	q->count++;
}

static int take_first(crew *c, queue *q) {
	int place = q->first;
	if (place != NONE) {
		q->first = c->jobs[place].next;
		q->count--;
	}
	return place;
}

static int64_t now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

// wake wakes up to n sleepers and returns how many it woke.
static int wake(sleepers *s, int n) {
	if (n > s->asleep)
		n = s->asleep;
	s->asleep -= n;
	s->woken += n;
	for (int i = 0; i < n; i++)
		pthread_cond_signal(&s->some);
	return n;
}

// next_job waits for a job. It returns NONE when the crew ends. Light jobs come first.
static int next_job(crew *c, int light) {
	pthread_mutex_lock(&c->mu);
	for (;;) {
		int place = take_first(c, &c->light);
		if (place == NONE && !light)
			place = take_first(c, &c->heavy);
		if (place != NONE || c->end) {
			pthread_mutex_unlock(&c->mu);
			return place;
		}
		sleepers *s = light ? &c->light_some : &c->heavy_some;
		s->asleep++;
		pthread_cond_wait(&s->some, &c->mu);
		if (s->woken > 0)
			s->woken--;
		else
			s->asleep--; // nobody has woken it
	}
}

// report queues a done job. The first job in the queue wakes the receiver.
static void report(crew *c, int place) {
	pthread_mutex_lock(&c->done_mu);
	int first = c->done.first == NONE;
	append(c, &c->done, place);
	pthread_mutex_unlock(&c->done_mu);
	if (first) {
		uint64_t one = 1;
		while (write(c->event, &one, sizeof one) < 0 && errno == EINTR)
			;
	}
}

static void *work(void *arg) {
	member *m = arg;
	crew *c = m->crew;
	m->id = (int)syscall(SYS_gettid);
	pthread_mutex_lock(&c->mu);
	c->begun++;
	pthread_cond_signal(&c->ready);
	pthread_mutex_unlock(&c->mu);
	for (;;) {
		int place = next_job(c, m->light);
		if (place == NONE)
			return NULL;
		job *j = &c->jobs[place];
		j->began = now();
		job_execute(j);
		j->ended = now();
		report(c, place);
	}
}

// start_member starts one thread, which blocks the signals meant for Go's threads.
static int start_member(crew *c, int number, int light, int affinity) {
	member *m = &c->members[number];
	m->crew = c;
	m->light = light;
	m->cpu = NONE;
	pthread_attr_t attr;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 128 << 10);
	if (affinity) {
		cpu_set_t usable, one;
		int nth = 0;
		sched_getaffinity(0, sizeof usable, &usable);
		int count = CPU_COUNT(&usable);
		for (int cpu = 0; cpu < CPU_SETSIZE && count > 0; cpu++) {
			if (CPU_ISSET(cpu, &usable) && nth++ == number % count) {
				m->cpu = cpu;
				CPU_ZERO(&one);
				CPU_SET(cpu, &one);
				pthread_attr_setaffinity_np(&attr, sizeof one, &one);
				break;
			}
		}
	}
	sigset_t all, before;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int err = pthread_create(&m->thread, &attr, work, m);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return err;
}

crew *crew_start(int threads, int light_threads, int places, int affinity) {
	crew *c = calloc(1, sizeof *c);
	if (c == NULL)
		return NULL;
	pthread_mutex_init(&c->mu, NULL);
	pthread_mutex_init(&c->done_mu, NULL);
	pthread_cond_init(&c->heavy_some.some, NULL);
	pthread_cond_init(&c->light_some.some, NULL);
	pthread_cond_init(&c->ready, NULL);
	c->heavy.first = c->light.first = c->done.first = NONE;
	c->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	c->jobs = calloc(places, sizeof *c->jobs);
	c->members = calloc(threads + light_threads, sizeof *c->members);
	int err = c->event < 0 ? errno : c->jobs == NULL || c->members == NULL ? ENOMEM : 0;
	for (; err == 0 && c->started < threads + light_threads; c->started++) {
		err = start_member(c, c->started, c->started >= threads, affinity);
		if (err != 0)
			break;
	}
	if (err != 0) {
		crew_stop(c);
		crew_free(c);
		errno = err;
		return NULL;
	}
	pthread_mutex_lock(&c->mu);
	while (c->begun < c->started)
		pthread_cond_wait(&c->ready, &c->mu);
	pthread_mutex_unlock(&c->mu);
	return c;
}

job *crew_jobs(crew *c) { return c->jobs; }

int crew_event(crew *c) { return c->event; }

void crew_thread(crew *c, int thread, int *id, int *cpu) {
	*id = c->members[thread].id;
	*cpu = c->members[thread].cpu;
}

void crew_push(crew *c, const int *places, int n) {
	int heavy = 0, light = 0;
	pthread_mutex_lock(&c->mu);
	for (int i = 0; i < n; i++) {
		int is_light = c->jobs[places[i]].light;
		append(c, is_light ? &c->light : &c->heavy, places[i]);
		if (is_light)
			light++;
		else
			heavy++;
	}
	// Wake light threads for light jobs, and other threads if too few are idle.
	heavy += light - wake(&c->light_some, light);
	wake(&c->heavy_some, heavy);
	pthread_mutex_unlock(&c->mu);
}

int crew_take(crew *c, int *places, int most) {
	int n = 0;
	pthread_mutex_lock(&c->done_mu);
	while (n < most && (places[n] = take_first(c, &c->done)) != NONE)
		n++;
	pthread_mutex_unlock(&c->done_mu);
	return n;
}

int crew_waiting(crew *c) {
	pthread_mutex_lock(&c->mu);
	int n = c->heavy.count + c->light.count;
	pthread_mutex_unlock(&c->mu);
	return n;
}

void crew_stop(crew *c) {
	pthread_mutex_lock(&c->mu);
	c->end = 1;
	pthread_cond_broadcast(&c->heavy_some.some);
	pthread_cond_broadcast(&c->light_some.some);
	pthread_mutex_unlock(&c->mu);
	for (int i = 0; i < c->started; i++)
		pthread_join(c->members[i].thread, NULL);
	c->started = 0;
}

void crew_free(crew *c) {
	if (c->event >= 0)
		close(c->event);
	pthread_cond_destroy(&c->heavy_some.some);
	pthread_cond_destroy(&c->light_some.some);
	pthread_cond_destroy(&c->ready);
	pthread_mutex_destroy(&c->mu);
	pthread_mutex_destroy(&c->done_mu);
	free(c->members);
	free(c->jobs);
	free(c);
}
