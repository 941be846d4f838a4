/* A modelled tool that prints facts: about its source, its folder, its descriptors and its streams. Its
 * first argument says which facts it looks at, and when: "BEFORE|CONSTRUCTOR|MAIN|END". Each letter is a
 * fact. It looks at the first ones before all constructors, and at the second ones in the constructor of a
 * library. The second argument is the source. Without it, the source is the standard input.
 *
 * Numbers that differ from run to run, such as inodes and times, are compared with what an earlier
 * look at the same file found. */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

void look(int phase, int count, char **args, char **env);

#ifdef PROGRAM
static void before(int count, char **args, char **env) { look(0, count, args, env); }
__attribute__((section(".preinit_array"), used)) static void (*first)(int, char **, char **) = before;
int main(int count, char **args, char **env) {
	look(2, count, args, env);
	look(3, count, args, env);
	return 0;
}
#else
static char text[8000];
static int length;
static void print(const char *format, ...) {
	va_list list;
	va_start(list, format);
	length += vsnprintf(text + length, sizeof text - length, format, list);
	va_end(list);
}

/* What was seen of a file. */
static struct seen { int is; unsigned long inode; struct timespec mtime, ctime; } source, folder, header, temporary, home;

static int same(struct timespec a, struct timespec b) { return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec; }

static void compare(const char *name, int r, struct stat *st, struct seen *of, int withTimes) {
	if (r != 0) return print("%s none ", name);
	print("%s %o %ld %ld", name, st->st_mode, (long)st->st_nlink, S_ISREG(st->st_mode) ? (long)st->st_size : -1);
	if (of->is) {
		print(of->inode == st->st_ino ? " same" : " OTHER");
		if (withTimes) print(same(of->mtime, st->st_mtim) && same(of->ctime, st->st_ctim) ? " times" : " TIMES");
	}
	*of = (struct seen){1, st->st_ino, st->st_mtim, st->st_ctim};
	print(" ");
}

static void list(const char *dir) {
	DIR *d = opendir(dir);
	print("list:");
	for (struct dirent *e; d && (e = readdir(d));) {
		print(" %s", e->d_name);
		if (source.is && !strcmp(e->d_name, "in.txt")) print(source.inode == e->d_ino ? " same" : " OTHER");
	}
	if (d) closedir(d);
	print(" ");
}

static int put(const char *name) {
	int fd = open(name, O_WRONLY | O_CREAT | O_APPEND, 0644);
	return fd < 0 ? -1 : write(fd, "x", 1) + close(fd);
}

static void become(char *rest, char **args, char **env) {
	char *more = malloc(strlen(rest) + 10);
	strcpy(more, "||");
	strcat(more, rest);
	execve("/proc/self/exe", (char *[]){args[0], more, args[2] ? args[2] : "-", text, 0}, env);
}

void look(int phase, int count, char **args, char **env) {
	struct stat st;
	struct statfs fs;
	char word[100], *path = count > 2 && strcmp(args[2], "-") ? args[2] : 0, *at = args[1];
	int fd, n = 0;
	if (count > 3 && !length) print("%s", args[3]);
	for (int i = 0; i < phase; i++) at = strchr(at, '|') + 1;
	print("%d: ", phase);
	for (; *at && *at != '|'; at++) switch (*at) {
	case 's': if (path) compare("stat", stat(path, &st), &st, &source, 1); break;
	case 'l': if (path) compare("lstat", lstat(path, &st), &st, &source, 1); break;
	case 'o': if (path) { compare("open", fstat(fd = open(path, O_RDONLY), &st), &st, &source, 1); print("fd %d ", fd); } break;
	case 'a': if (path) print("access %d ", access(path, R_OK)); break;
	case 'A': if (path) { print("xattr %d ", (int)getxattr(path, "user.none", word, 10)); } break;
	case 'R': if (path) { fd = open(path, O_RDONLY); n = read(fd, word, 99); print("read %.*s fd %d ", n, word, fd); close(fd); } break;
	case '0': n = fstat(0, &st); path ? print("in %o ", st.st_mode) : compare("in", n, &st, &source, 1); break;
	case 'G': n = syscall(SYS_fstat, 0, &st); path ? print("in %o ", st.st_mode) : compare("in", n, &st, &source, 1); break;
	case 'S': n = stat("/dev/stdin", &st); path ? print("stdin %o ", st.st_mode) : compare("stdin", n, &st, &source, 1); break;
	case 'x': {
		struct statx x;
		memset(&st, 0, sizeof st);
		n = path ? statx(AT_FDCWD, path, 0, STATX_BASIC_STATS, &x) : statx(0, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &x);
		st.st_mode = x.stx_mode, st.st_nlink = x.stx_nlink, st.st_size = x.stx_size, st.st_ino = x.stx_ino;
		compare("statx", n, &st, &source, 0);
		source.is = 0; /* it has no times */
		break;
	}
	case 'z': if (!path) { print("end %d ", (int)lseek(0, 0, SEEK_END)); lseek(0, 0, SEEK_SET); } break;
	case 'y': print("position %d ", (int)lseek(0, 0, SEEK_CUR)); break;
	case 'i': n = -1, ioctl(0, FIONREAD, &n); print("bytes %d ", n); break;
	case 'P': print("poll %d ", poll(&(struct pollfd){0, POLLIN}, 1, 0)); break;
	case 'm': { char *p = mmap(0, 4096, PROT_READ, MAP_PRIVATE, 0, 0); print("mapped %c ", p == MAP_FAILED ? '-' : *p ? *p : '0'); } break;
	case 'r': if (!path) { n = pread(0, word, 99, 0); print("read %.*s ", n, word); } break;
	case 'D': fd = dup(0); n = fstat(fd, &st); path ? print("dup %d %o ", fd, st.st_mode) : compare("dup", n, &st, &source, 1); break;
	case '1': for (fd = 1; fd < 3; fd++) { struct stat in; n = fstat(fd, &st), stat(".", &in); print("out %o %ld %ld %d ", st.st_mode, (long)st.st_nlink, (long)st.st_size, st.st_dev == in.st_dev); } break;
	case '2': for (fd = 1; fd < 3; fd++) { n = fstat(fd, &st); print("out %o %ld %ld %d ", st.st_mode, (long)st.st_nlink, (long)st.st_size, (int)lseek(fd, 0, SEEK_CUR)); } break;
	case 'd': compare("folder", stat(".", &st), &st, &folder, 1); break;
	case 'e': list("."); break;
	case 'h': compare("header", stat("HDR_h", &st), &st, &header, 1); break;
	case 't': compare("tmp", stat(getenv("TMPDIR"), &st), &st, &temporary, 1); break;
	case 'H': compare("home", stat(getenv("HOME"), &st), &st, &home, 1); break;
	case 'u': print("null %d ", open("/dev/null", O_RDWR)); break;
	case 'U': print("urandom %d ", open("/dev/urandom", O_RDONLY)); break;
	case 'F': fd = open("/dev/zero", O_RDONLY); print("dup %d ", fcntl(fd, F_DUPFD, 249)); print("%d ", fcntl(fd, F_DUPFD, 250)); break;
	case 'p': list("/proc/self/fd"); break;
	case 'q': fd = open("/proc/self/fdinfo/0", O_RDONLY); n = read(fd, word, 99); close(fd); for (int i = 0; i < n && word[i] != 'm'; i++) print("%c", word[i]); break;
	case 'c': print("open:"); for (fd = 0; fd < 300; fd++) if (fcntl(fd, F_GETFD) >= 0) print(" %d", fd); print(" "); break;
	case 'f': for (fd = 0; fd < 3; fd++) print("flags %x ", fcntl(fd, F_GETFL)); break;
	case 'L': n = readlink("/proc/self/fd/0", word, 99); print("link %.*s ", n, word); break;
	case 'g': print("%s ", getcwd(word, sizeof word)); break;
	case 'n': fstatfs(0, &fs); print("type %lx ", (long)fs.f_type); break;
	case 'E': for (char **e = env; *e; e++) print("%s ", *e); break;
	case 'b': fd = open("/etc/passwd", O_RDONLY); n = read(fd, word, 10); print("other %d %d ", fd, n); close(fd); break;
	case 'X': become(at + 1, args, env); break;
	/* Only at the end: */
	case 'w': print("header %d ", put("HDR_h")); break;
	case 'v': { char *name; asprintf(&name, "%s/left", getenv("TMPDIR")); print("tmp %d ", put(name)); } break;
	case 'j': print("made %d ", put("made")); break;
	case 'k': print("gone %d ", unlink("in.txt")); break;
	}
	if (phase == 3) printf("%s\n", text);
}

__attribute__((constructor)) static void begin(int count, char **args, char **env) { look(1, count, args, env); }
#endif
