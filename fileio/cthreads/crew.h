// The crew: threads that execute jobs on files. Everything is declared here; what the
// fields of a job mean is in job.go of package fileio.
#ifndef MUSTER_CREW_H
#define MUSTER_CREW_H

#include <stddef.h>
#include <stdint.h>

enum { NAME_ROOM = 256 };

typedef struct job {
	int op, light, sync;
	int folder, file;
	char name[NAME_ROOM], temp[NAME_ROOM];
	void *data;
	size_t size;
	int64_t offset;

	int next;  // in its queue; -1 = the last

	int err; // of errno; 0 = done
	size_t n;
	int64_t file_size, seconds, nanoseconds;
	uint64_t inode;
	char *names; // of OP_LIST: each with a 0 at its end; for whoever takes the job to free
	size_t names_size;
	int64_t began, ended; // nanoseconds of the monotonic clock
} job;

typedef struct crew crew;

// crew_start starts threads, light_threads of which do light jobs alone, and has room for
// so many jobs. affinity binds each thread to a processor. It returns NULL and sets errno
// when the system gives no more.
crew *crew_start(int threads, int light_threads, int places, int affinity);

// crew_jobs are its places for jobs.
job *crew_jobs(crew *c);

// crew_event is a descriptor that can be read when jobs are done.
int crew_event(crew *c);

// crew_thread tells the number that the system has for a thread, and the processor that it
// is bound to; -1 = to none.
void crew_thread(crew *c, int thread, int *id, int *cpu);

// crew_push hands over jobs, by their places.
void crew_push(crew *c, const int *places, int n);

// crew_take returns the places of jobs that are done, most at a time.
int crew_take(crew *c, int *places, int most);

// crew_waiting is how many jobs no thread has taken.
int crew_waiting(crew *c);

// crew_stop ends the threads once all jobs are done.
void crew_stop(crew *c);

// crew_free frees everything, once the threads have ended.
void crew_free(crew *c);

// job_execute does what a job says: it sets err and what else there is to set.
void job_execute(job *j);

#endif
