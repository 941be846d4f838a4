//go:build linux && cgo

#define _GNU_SOURCE
#include "crew.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// The operations of package fileio, in the same order.
enum {
	OP_PUT = 1, OP_STAGE, OP_CREATE, OP_WRITE, OP_SEAL, OP_COMMIT, OP_DISCARD,
	OP_GET, OP_READ, OP_CLOSE, OP_STAT, OP_DELETE, OP_LIST, OP_SYNC,
};

// AGAIN repeats a system call that a signal interrupts.
#define AGAIN(call) ({ __typeof__(call) r_; do r_ = (call); while (r_ == -1 && errno == EINTR); r_; })

// The functions return 0, or errno.

static int create(job *j) {
	j->file = AGAIN(openat(j->folder, j->temp, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0644));
	return j->file < 0 ? errno : 0;
}

static int write_all(job *j) {
	const char *data = j->data;
	size_t left = j->size;
	int64_t offset = j->offset;
	while (left > 0) {
		size_t part = left < 1 << 20 ? left : 1 << 20;
		ssize_t n = AGAIN(pwrite(j->file, data, part, offset));
		if (n < 0)
			return errno;
		if (n == 0)
			return ENOSPC;
		data += n;
		left -= n;
		offset += n;
	}
	return 0;
}

static int set_info(job *j, const struct stat *st) {
	if (!S_ISREG(st->st_mode))
		return EINVAL;
	j->file_size = st->st_size;
	j->seconds = st->st_mtim.tv_sec;
	j->nanoseconds = st->st_mtim.tv_nsec;
	j->inode = st->st_ino;
	return 0;
}

static int seal(job *j) {
	int err = 0;
	if (j->sync && AGAIN(fdatasync(j->file)) < 0)
		err = errno;
	// Stat the descriptor: the name may refer to another file later.
	struct stat st;
	int unknown = AGAIN(fstat(j->file, &st)) < 0 ? errno : set_info(j, &st);
	if (err == 0)
		err = unknown;
	// close releases the descriptor even if it returns an error.
	if (close(j->file) < 0 && errno != EINTR && err == 0)
		err = errno;
	j->file = -1;
	return err;
}

// stage leaves a complete file, or no file.
static int stage(job *j) {
	int err = create(j);
	if (err != 0)
		return err;
	err = write_all(j);
	int closed = seal(j);
	if (err == 0)
		err = closed;
	if (err != 0)
		unlinkat(j->folder, j->temp, 0);
	return err;
}

static int stat_name(job *j) {
	struct stat st;
	if (AGAIN(fstatat(j->folder, j->name, &st, AT_SYMLINK_NOFOLLOW)) < 0)
		return errno;
	return set_info(j, &st);
}

static int commit(job *j) {
	if (AGAIN(renameat(j->folder, j->temp, j->folder, j->name)) < 0)
		return errno;
	return j->sync && AGAIN(fsync(j->folder)) < 0 ? errno : 0;
}

static int put(job *j) {
	int err = stage(j);
	if (err != 0)
		return err;
	err = commit(j);
	if (err != 0)
		unlinkat(j->folder, j->temp, 0);
	return err;
}

static int read_all(job *j) {
	j->n = 0;
	while (j->n < j->size) {
		ssize_t n = AGAIN(pread(j->file, (char *)j->data + j->n, j->size - j->n, j->offset + (int64_t)j->n));
		if (n < 0)
			return errno;
		if (n == 0)
			break;
		j->n += n;
	}
	return 0;
}

static int get(job *j) {
	// Without O_NONBLOCK a planted pipe would block the thread.
	j->file = AGAIN(openat(j->folder, j->name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
	if (j->file < 0)
		return errno;
	struct stat st;
	int err = AGAIN(fstat(j->file, &st)) < 0 ? errno : set_info(j, &st);
	if (err == 0) {
		if ((int64_t)j->size > j->file_size)
			j->size = j->file_size; // reading beyond the end would take another call
		err = read_all(j);
	}
	if (err != 0 || (int64_t)j->n >= j->file_size) {
		close(j->file);
		j->file = -1;
	}
	return err;
}

// list collects the names. It reads through its own descriptor, because a shared descriptor
// has one read position.
static int list(job *j) {
	int own = AGAIN(openat(j->folder, ".", O_RDONLY | O_CLOEXEC | O_DIRECTORY));
	if (own < 0)
		return errno;
	DIR *dir = fdopendir(own);
	if (dir == NULL) {
		int err = errno;
		close(own);
		return err;
	}
	FILE *names = open_memstream(&j->names, &j->names_size);
	int err = names == NULL ? errno : 0;
	while (err == 0) {
		errno = 0;
		struct dirent *e = readdir(dir);
		if (e == NULL) {
			err = errno;
			break;
		}
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 && fwrite(e->d_name, strlen(e->d_name) + 1, 1, names) != 1)
			err = ENOMEM;
	}
	if (names != NULL && fclose(names) != 0 && err == 0)
		err = ENOMEM;
	closedir(dir);
	return err;
}

static int delete_name(job *j) {
	if (AGAIN(unlinkat(j->folder, j->name, 0)) < 0)
		return errno;
	return j->sync && AGAIN(fsync(j->folder)) < 0 ? errno : 0;
}

static int execute(job *j) {
	switch (j->op) {
	case OP_PUT:
		return put(j);
	case OP_STAGE:
		return stage(j);
	case OP_CREATE:
		return create(j);
	case OP_WRITE:
		return write_all(j);
	case OP_SEAL:
		return seal(j);
	case OP_COMMIT:
		return commit(j);
	case OP_DISCARD:
		return AGAIN(unlinkat(j->folder, j->temp, 0)) < 0 ? errno : 0;
	case OP_GET:
		return get(j);
	case OP_READ:
		return read_all(j);
	case OP_CLOSE:
		return close(j->file) < 0 ? errno : 0;
	case OP_STAT:
		return stat_name(j);
	case OP_DELETE:
		return delete_name(j);
	case OP_LIST:
		return list(j);
	case OP_SYNC:
		return AGAIN(syncfs(j->folder)) < 0 ? errno : 0;
	}
	return ENOSYS;
}

void job_execute(job *j) { j->err = execute(j); }
