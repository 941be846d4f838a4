// A crew is a group of threads that execute jobs on files. job.go of package fileio explains
// the fields of a job.
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

	int err; // errno; 0 = success
	size_t n;
	int64_t file_size, seconds, nanoseconds;
	uint64_t inode;
	char *names; // of OP_LIST: zero-terminated; the receiver of the job frees it
	size_t names_size;
	int64_t began, ended; // nanoseconds of the monotonic clock
} job;

typedef struct crew crew;

// crew_start starts threads, and light_threads that execute only light jobs. places is the
// number of jobs at a time. affinity binds each thread to a processor. On failure it returns
// NULL and sets errno.
crew *crew_start(int threads, int light_threads, int places, int affinity);

// crew_jobs returns the crew's places for jobs.
job *crew_jobs(crew *c);

// crew_event returns a descriptor that is readable when jobs are done.
int crew_event(crew *c);

// crew_thread returns the system's id of a thread and the processor to which it is bound;
// -1 = not bound.
void crew_thread(crew *c, int thread, int *id, int *cpu);

// crew_push submits the jobs in these places.
void crew_push(crew *c, const int *places, int n);

// crew_take returns the places of up to most done jobs.
int crew_take(crew *c, int *places, int most);

// crew_waiting counts the jobs that no thread has taken.
int crew_waiting(crew *c);

// crew_stop ends the threads once all jobs are done.
void crew_stop(crew *c);

// crew_free frees everything, once the threads have ended.
void crew_free(crew *c);

// job_execute executes a job and sets err and the job's other results.
void job_execute(job *j);

#endif
