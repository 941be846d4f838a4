/*
 * The shim makes a fork server of a command. The dynamic linker loads it into the command
 * (LD_PRELOAD). Before main, it asks the kernel to raise SIGSYS at every system call of the command
 * (syscall user dispatch, Linux 5.11). The handler looks at the call and then makes it. So no call
 * escapes, wherever in the command it is made.
 *
 * At the first call that touches the source, the command stops in the handler. If the source is its
 * standard input, that is the first call that reads it or its position. The command then makes a fork
 * of itself for each request. The dispatch ends with the fork, which makes the call and goes on. The
 * shim refuses a command that made a call whose effect a fork may not share.
 *
 * MUSTER_FORK_SERVER is "SOCKET,SOCKET,PATH": the server's, the init's, and the source's. The forks
 * are in a PID namespace below the server's. Its init is the first process that the shim makes.
 * Package regress/lane/fork is the other end of both sockets.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41
#endif

#ifndef __x86_64__
#error "the shim is for x86-64"
#endif

/* System calls between pass and passEnd are not dispatched. restorer ends the handler. */
__asm__(".text\n.balign 64\n.hidden pass\n.globl pass\npass:\n"
	".hidden call6\n.globl call6\n.type call6,@function\ncall6:\n"
	"mov %rdi,%rax\nmov %rsi,%rdi\nmov %rdx,%rsi\nmov %rcx,%rdx\nmov %r8,%r10\nmov %r9,%r8\nmov 8(%rsp),%r9\nsyscall\nret\n"
	".hidden restorer\n.globl restorer\n.type restorer,@function\nrestorer:\nmov $15,%eax\nsyscall\nhlt\n"
	".hidden passEnd\n.globl passEnd\npassEnd:\n");
#define HIDDEN __attribute__((visibility("hidden")))
extern HIDDEN char pass[], passEnd[];
extern HIDDEN void restorer(void);
extern HIDDEN long call6(long number, long a, long b, long c, long d, long e, long f);
#define CALL(n, a, b, c, d, e, f) call6(n, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

/* What the kernel takes, not what the C library does. */
struct kernelAction {
	void *handler;
	unsigned long flags;
	void *restorer;
	unsigned long mask;
};
enum { FLAG_RESTORER = 0x04000000, DISPATCH = 59, DISPATCH_ON = 1, RSEQ = 334, FACCESSAT2 = 439, SIGNAL_BYTES = 8 };

/* Reasons to refuse beside the number of a system call. */
enum { PRINTED = -1, KEEPS_OPEN = -2, READS_INPUT = -3, ENDS = -4, NO_DISPATCH = -5, HASH_SEED = -6, FOREIGN = -7, NO_START = -8, CHANGES_STREAMS = -9 };

struct message {
	long kind, value, peak;
};

static char dispatched = 1; /* all calls are, outside of pass */
static int control, sweeper;
static pid_t initPID; /* as the helper sees it */
static struct stat source;
static int isInput; /* the source is the standard input */
static char preload[4200], setting[4200];
static char sourcePath[4096];
static char *followed[8192]; /* environment of a program that the command becomes */
static pid_t *threadID;      /* where the C library keeps it */
static int isRandom;         /* Python's hash seed */

/* A command with Python in it has this function. */
extern void Py_Initialize(void) __attribute__((weak));

static void report(long kind, long value) {
	struct message m = {kind, value, 0};
	CALL(SYS_sendto, control, &m, sizeof m, MSG_NOSIGNAL, 0, 0);
}

static void refuse(long why) {
	report('R', why);
	CALL(SYS_exit_group, 0, 0, 0, 0, 0, 0);
}

static int isSource(long dir, long path) {
	struct stat st;
	return CALL(SYS_newfstatat, dir, path, &st, 0, 0, 0) == 0 && st.st_ino == source.st_ino && st.st_dev == source.st_dev;
}

/* Devices such as /dev/null and /dev/urandom have no position and keep nothing. */
static int isMemoryDevice(const struct stat *st) { return S_ISCHR(st->st_mode) && st->st_rdev >> 8 == 1; }

static int isSourceOpen(long fd) {
	struct stat st;
	return CALL(SYS_fstat, fd, &st, 0, 0, 0, 0) == 0 && st.st_ino == source.st_ino && st.st_dev == source.st_dev;
}

static int isDevice(long fd) {
	struct stat st;
	return CALL(SYS_fstat, fd, &st, 0, 0, 0, 0) == 0 && isMemoryDevice(&st);
}

/* A fork shares positions of open files with all others. */
static void checkDescriptors(void) {
	struct stat st;
	for (int fd = 0; fd <= 2; fd++) /* a fork's streams are not closed on exec */
		if (CALL(SYS_fcntl, fd, F_GETFD, 0, 0, 0, 0) != 0) refuse(CHANGES_STREAMS);
	if (isInput ? !isSourceOpen(0) : !isDevice(0)) refuse(CHANGES_STREAMS);
	for (int fd = 1; fd <= 2; fd++)
		if (CALL(SYS_fstat, fd, &st, 0, 0, 0, 0) != 0 || st.st_size != 0) refuse(PRINTED);
	long list = CALL(SYS_openat, AT_FDCWD, "/proc/self/fd", O_RDONLY | O_DIRECTORY, 0, 0, 0);
	if (list < 0) refuse(KEEPS_OPEN);
	for (;;) {
		char entries[1024];
		long n = CALL(SYS_getdents64, list, entries, sizeof entries, 0, 0, 0);
		if (n < 0) refuse(KEEPS_OPEN);
		if (n == 0) break;
		for (long i = 0; i < n; i += *(unsigned short *)(entries + i + 16)) { /* d_reclen; the name is at 19 */
			int fd = 0;
			for (const char *digit = entries + i + 19; *digit >= '0' && *digit <= '9'; digit++) fd = 10 * fd + *digit - '0';
			if (fd < 3 || fd == control || fd == list) continue;
			if (CALL(SYS_fstat, fd, &st, 0, 0, 0, 0) != 0 || !isMemoryDevice(&st)) refuse(KEEPS_OPEN);
		}
	}
	CALL(SYS_close, list, 0, 0, 0, 0, 0);
}

static void becomeCase(int *fds) {
	CALL(SYS_setpgid, 0, 0, 0, 0, 0, 0);
	for (int i = 0; i < 3; i++) {
		CALL(SYS_dup3, fds[i], i, 0, 0, 0, 0);
		CALL(SYS_close, fds[i], 0, 0, 0, 0, 0);
	}
	CALL(SYS_close, control, 0, 0, 0, 0, 0);
	struct kernelAction usual = {0};
	CALL(SYS_rt_sigaction, SIGSYS, &usual, 0, SIGNAL_BYTES, 0, 0);
}

/* Returns in the forks alone. The end of the handler gives them their signal mask back. */
static void serve(void) {
	if (Py_Initialize && isRandom) refuse(HASH_SEED);
	checkDescriptors();
	unsigned long all = ~0ul;
	CALL(SYS_rt_sigprocmask, SIG_SETMASK, &all, 0, SIGNAL_BYTES, 0, 0);
	report('P', initPID);
	for (;;) {
		char byte;
		union {
			struct cmsghdr header;
			char space[CMSG_SPACE(3 * sizeof(int))];
		} rights;
		struct iovec content = {&byte, 1};
		struct msghdr m = {.msg_iov = &content, .msg_iovlen = 1, .msg_control = &rights, .msg_controllen = sizeof rights};
		long n = CALL(SYS_recvmsg, control, &m, 0, 0, 0, 0);
		if (n == -EINTR) continue;
		if (n <= 0) CALL(SYS_exit_group, 0, 0, 0, 0, 0, 0);
		int *fds = (int *)CMSG_DATA(&rights.header);
		/* The helper is the parent, as of any command. */
		long pid = CALL(SYS_clone, CLONE_PARENT | SIGCHLD | (threadID ? CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID : 0), 0, 0, threadID, 0, 0);
		if (pid == 0) {
			becomeCase(fds);
			return;
		}
		for (int i = 0; i < 3; i++) CALL(SYS_close, fds[i], 0, 0, 0, 0, 0);
		report('F', pid);
	}
}

/* The command becomes another program, as a script's "env" does: that one gets the shim, too. It also
   gets the signal mask, in which this handler has blocked SIGSYS. */
static long follow(ucontext_t *at, long path, long args, char **env) {
	int n = 0;
	for (; env && env[n]; n++) {
		if (n == 8000) refuse(SYS_execve);
		followed[n] = env[n];
	}
	followed[n++] = preload;
	followed[n++] = setting;
	followed[n] = 0;
	CALL(SYS_rt_sigprocmask, SIG_SETMASK, &at->uc_sigmask, 0, SIGNAL_BYTES, 0, 0);
	CALL(SYS_fcntl, control, F_SETFD, 0, 0, 0, 0);
	long r = CALL(SYS_execve, path, args, followed, 0, 0, 0);
	CALL(SYS_fcntl, control, F_SETFD, FD_CLOEXEC, 0, 0, 0);
	return r;
}

/* The mask is that of the interrupted code, and SIGSYS stays free. */
static long changeMask(ucontext_t *at, long how, const unsigned long *set, unsigned long *old) {
	unsigned long *mask = (unsigned long *)&at->uc_sigmask, was = *mask;
	if (set) {
		unsigned long new = *set; /* old may be the same memory */
		switch (how) {
		case SIG_BLOCK: new = was | new; break;
		case SIG_UNBLOCK: new = was & ~new; break;
		case SIG_SETMASK: break;
		default: return -EINVAL;
		}
		*mask = new & ~(1ul << (SIGSYS - 1));
	}
	if (old) *old = was;
	return 0;
}

static void readInput(void) {
	if (!isInput) refuse(READS_INPUT);
	serve();
}

/* Interpreters look at the kind of their standard input when they start. The shim hides the inode, size and
   times, which differ from source to source: a command that uses them fails in every fork. */
static long hideSource(long r, struct stat *st) {
	if (r == 0 && isInput && st->st_ino == source.st_ino && st->st_dev == source.st_dev) {
		st->st_size = st->st_blocks = st->st_ino = 0;
		memset(&st->st_atim, 0, 3 * sizeof st->st_atim); /* and st_mtim, st_ctim */
	}
	return r;
}

static long openFile(long dir, long path, long flags, long mode) {
	if (isSource(dir, path)) serve();
	else if (flags & (O_ACCMODE | O_CREAT | O_TRUNC)) {
		struct stat st;
		int device = CALL(SYS_newfstatat, dir, path, &st, 0, 0, 0) == 0 && isMemoryDevice(&st);
		long fd = CALL(SYS_openat, dir, path, flags, mode, 0, 0);
		if (fd >= 0 && !device) refuse(SYS_openat);
		return fd;
	}
	return CALL(SYS_openat, dir, path, flags, mode, 0, 0);
}

/* Makes the call, or refuses it. Only the listed calls are made before the stop. chdir is not one of
   them: the helper would not notice that a case removed a folder in which the server is. */
static long judge(ucontext_t *at, long n, long a, long b, long c, long d, long e, long f) {
	switch (n) {
	case SYS_open: return openFile(AT_FDCWD, a, b, c);
	case SYS_openat: return openFile(a, b, c, d);
	case SYS_stat: case SYS_lstat: case SYS_access: case SYS_readlink: case SYS_getxattr: case SYS_lgetxattr: case SYS_statfs:
		if (isSource(AT_FDCWD, a)) serve();
		break;
	case SYS_newfstatat:
		if (!isSource(a, b)) return hideSource(CALL(n, a, b, c, d, e, f), (struct stat *)c);
		serve();
		break;
	case SYS_fstat: return hideSource(CALL(n, a, b, c, d, e, f), (struct stat *)b);
	case SYS_statx:
		if (isSource(a, b) || (isInput && a == 0 && c & AT_EMPTY_PATH)) serve();
		break;
	case SYS_faccessat: case FACCESSAT2: case SYS_readlinkat:
		if (isSource(a, b)) serve();
		break;
	case SYS_execve:
		if (!isSource(AT_FDCWD, a)) return follow(at, a, b, (char **)c);
		serve();
		break;
	case SYS_rt_sigprocmask: return changeMask(at, a, (unsigned long *)b, (unsigned long *)c);
	case SYS_rt_sigaction:
		if (a != SIGSYS) break;
		if (b) refuse(n);
		if (c) memset((void *)c, 0, sizeof(struct kernelAction));
		return 0;
	case SYS_mmap:
		if (isInput && e == 0 && !(d & MAP_ANONYMOUS)) serve();
		else if (d & MAP_SHARED && (c & PROT_WRITE || d & MAP_ANONYMOUS || isDevice(e))) refuse(n); /* mprotect could make it writable later */
		break;
	case SYS_fcntl:
		if (isInput && a == 0 && (b == F_DUPFD || b == F_DUPFD_CLOEXEC)) serve();
		else if (b != F_GETFD && b != F_SETFD && b != F_GETFL && b != F_DUPFD && b != F_DUPFD_CLOEXEC) refuse(n);
		break;
	case SYS_ioctl:
		if (b != TCGETS && b != TIOCGWINSZ && b != FIOCLEX && b != FIONCLEX) refuse(n);
		break;
	case SYS_prctl:
		if (a != PR_SET_NAME && a != PR_GET_NAME && a != PR_SET_VMA) refuse(n);
		break;
	case SYS_prlimit64:
		if (c) refuse(n);
		break;
	case SYS_read: case SYS_readv: case SYS_pread64:
		if (a == 0) readInput();
		break;
	case SYS_dup:
		if (isInput && a == 0) serve();
		break;
	case SYS_lseek:
		if (isInput && a == 0 && (b != 0 || c != SEEK_CUR)) serve();
		break;
	case SYS_exit: case SYS_exit_group: refuse(ENDS); break;
	/* These leave nothing, or memory and settings that a fork inherits. */
	case SYS_arch_prctl: case SYS_brk: case SYS_clock_getres: case SYS_clock_gettime: case SYS_close: case SYS_epoll_create1:
	case SYS_fadvise64: case SYS_fstatfs: case SYS_futex: case SYS_getcwd: case SYS_getdents64:
	case SYS_getegid: case SYS_geteuid: case SYS_getgid: case SYS_getgroups: case SYS_getpgid: case SYS_getpgrp: case SYS_getpid:
	case SYS_getppid: case SYS_getrandom: case SYS_getresgid: case SYS_getresuid: case SYS_getrlimit: case SYS_getrusage: case SYS_getsid:
	case SYS_gettid: case SYS_gettimeofday: case SYS_getuid: case SYS_madvise: case SYS_mprotect: case SYS_mremap:
	case SYS_munmap: case SYS_poll: case RSEQ: case SYS_sched_getaffinity: case SYS_sched_yield: case SYS_set_robust_list:
	case SYS_set_tid_address: case SYS_sigaltstack: case SYS_sysinfo: case SYS_time: case SYS_times: case SYS_umask: case SYS_uname:
		break;
	default: refuse(n);
	}
	return CALL(n, a, b, c, d, e, f);
}

static void handle(int signal, siginfo_t *info, void *context) {
	ucontext_t *at = context;
	greg_t *r = at->uc_mcontext.gregs;
	(void)signal;
	if (info->si_arch != AUDIT_ARCH_X86_64) refuse(FOREIGN);
	r[REG_RAX] = judge(at, info->si_syscall, r[REG_RDI], r[REG_RSI], r[REG_RDX], r[REG_R10], r[REG_R8], r[REG_R9]);
}

/* The init of the forks' namespace ends what a fork left, when it is asked to, and reports its cost. */
static void sweep(void) {
	for (int fd = 0; fd < 1024; fd++)
		if (fd != sweeper) close(fd);
	prctl(PR_SET_DUMPABLE, 0); /* no case reads or writes its memory */
	struct message ready = {0};
	send(sweeper, &ready, sizeof ready, MSG_NOSIGNAL);
	for (;;) {
		char byte;
		ssize_t n = recv(sweeper, &byte, 1, 0);
		if (n < 0 && errno == EINTR) continue;
		if (n <= 0) _exit(0);
		struct message sum = {0};
		for (;;) {
			struct rusage u;
			pid_t pid = wait4(-1, 0, __WALL | WNOHANG, &u);
			if (pid < 0 && errno == EINTR) continue;
			if (pid < 0) break;
			if (pid == 0) {
				struct timespec pause = {0, 50000};
				kill(-1, SIGKILL);
				nanosleep(&pause, 0);
				continue;
			}
			sum.kind++;
			sum.value += (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000000l + (u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000l;
			if (u.ru_maxrss > sum.peak) sum.peak = u.ru_maxrss;
		}
		send(sweeper, &sum, sizeof sum, MSG_NOSIGNAL);
	}
}

/* Takes a variable out of an environment, and clears its text, which /proc shows. */
static int take(char **env, const char *key, char *to, size_t size) {
	size_t length = strlen(key);
	for (; *env; env++) {
		if (strncmp(*env, key, length)) continue;
		size_t all = strlen(*env);
		if (all >= size) return 0;
		memcpy(to, *env, all + 1);
		memset(*env, 0, all);
		do env[0] = env[1];
		while (*env++);
		return 1;
	}
	return 0;
}

static char *number(char *to, long n) {
	char digits[20];
	int i = 0;
	if (n < 0) *to++ = '-', n = -n;
	do digits[i++] = '0' + n % 10;
	while (n /= 10);
	while (i) *to++ = digits[--i];
	return to;
}

__attribute__((constructor)) static void begin(int count, char **args, char **env) {
	(void)count, (void)args;
	static const char key[] = "MUSTER_FORK_SERVER=";
	int preloaded = take(env, "LD_PRELOAD=", preload, sizeof preload);
	if (!take(env, key, setting, sizeof setting)) return;
	char *rest;
	control = strtol(setting + sizeof key - 1, &rest, 10);
	fcntl(control, F_SETFD, FD_CLOEXEC);
	long second = strtol(rest + 1, &rest, 10);
	strncpy(sourcePath, rest + 1, sizeof sourcePath - 1);
	if (!preloaded || stat(sourcePath, &source) != 0) {
		report('R', NO_START);
		_exit(0);
	}
	if (second < 0) initPID = -second; /* the command was another program before */
	else {
		sweeper = second;
		if ((initPID = fork()) == 0) sweep();
		close(sweeper);
	}
	isInput = isSourceOpen(0);
	char *end = number(setting + sizeof key - 1, control);
	*end++ = ',';
	end = number(end, -initPID);
	*end++ = ',';
	strcpy(end, sourcePath);
	const char *seed = getenv("PYTHONHASHSEED");
	isRandom = !seed || !*seed || !strcmp(seed, "random");
	if (prctl(PR_GET_TID_ADDRESS, &threadID) != 0) threadID = 0;
	struct kernelAction act = {handle, SA_SIGINFO | FLAG_RESTORER, restorer, 0};
	if (initPID < 0 || syscall(SYS_rt_sigaction, SIGSYS, &act, 0, SIGNAL_BYTES) != 0 || prctl(DISPATCH, DISPATCH_ON, pass, passEnd - pass, &dispatched) != 0) {
		report('R', NO_DISPATCH);
		_exit(0);
	}
}
