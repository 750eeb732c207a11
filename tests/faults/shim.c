/* Intercepts system calls of the program and lets chosen ones fail.
 *
 * With FAULT=CALL:WHAT:FROM:COUNT, calls number FROM (from 1) to FROM+COUNT-1 of CALL fail. WHAT is an error
 * number, or `short`: a read or write of at most seven bytes. The first failure creates the file named by
 * FAULT_FIRED. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static char call[32];
static int error;
static int is_short;
static long from;
static long count;
static const char *fired;
static atomic_long calls;

__attribute__((constructor)) static void configure(void) {
    const char *fault = getenv("FAULT");
    fired = getenv("FAULT_FIRED");
    if (!fault || !fired)
        return;
    const char *end = strchr(fault, ':');
    if (!end || (size_t)(end - fault) >= sizeof call)
        return;
    memcpy(call, fault, (size_t)(end - fault));
    char *rest;
    if (strncmp(end + 1, "short", 5) == 0) {
        is_short = 1;
        rest = (char *)end + 6;
    } else {
        error = (int)strtol(end + 1, &rest, 10);
    }
    from = strtol(rest + 1, &rest, 10);
    count = strtol(rest + 1, &rest, 10);
}

/* Whether this call is to fail. */
static int fails(const char *name) {
    if (!fired || strcmp(name, call) != 0)
        return 0;
    long number = atomic_fetch_add(&calls, 1) + 1;
    if (number < from || number >= from + count)
        return 0;
    int saved = errno;
    int file = (int)syscall(SYS_openat, AT_FDCWD, fired, O_CREAT | O_WRONLY, 0600);
    if (file >= 0)
        syscall(SYS_close, file);
    errno = is_short ? saved : error;
    return 1;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static int opens(const char *name, int directory, const char *path, int flags, mode_t mode) {
    (void)name;
    if (fails("open"))
        return -1;
    return (int)syscall(SYS_openat, directory, path, flags, mode);
}

#define MODE                                  \
    va_list list;                             \
    va_start(list, flags);                    \
    mode_t mode = va_arg(list, mode_t);       \
    va_end(list);

int open(const char *path, int flags, ...) { MODE return opens("open", AT_FDCWD, path, flags, mode); }
int open64(const char *path, int flags, ...) { MODE return opens("open", AT_FDCWD, path, flags, mode); }
int openat(int directory, const char *path, int flags, ...) { MODE return opens("open", directory, path, flags, mode); }
int openat64(int directory, const char *path, int flags, ...) { MODE return opens("open", directory, path, flags, mode); }

ssize_t read(int file, void *to, size_t len) {
    if (fails("read")) {
        if (!is_short)
            return -1;
        len = len > 7 ? 7 : len;
    }
    return syscall(SYS_read, file, to, len);
}

ssize_t write(int file, const void *bytes, size_t len) {
    if (fails("write")) {
        if (!is_short)
            return -1;
        len = len > 7 ? 7 : len;
    }
    return syscall(SYS_write, file, bytes, len);
}

ssize_t writev(int file, const struct iovec *parts, int number) {
    if (fails("write")) {
        if (!is_short)
            return -1;
        return syscall(SYS_write, file, parts[0].iov_base, parts[0].iov_len > 7 ? 7 : parts[0].iov_len);
    }
    return syscall(SYS_writev, file, parts, number);
}

/* At a place of a file: its temporary ones. */
static ssize_t reads_at(int file, void *to, size_t len, off64_t offset) {
    if (fails("pread")) {
        if (!is_short)
            return -1;
        len = len > 7 ? 7 : len;
    }
    return syscall(SYS_pread64, file, to, len, offset);
}
ssize_t pread(int file, void *to, size_t len, off_t offset) { return reads_at(file, to, len, offset); }
ssize_t pread64(int file, void *to, size_t len, off64_t offset) { return reads_at(file, to, len, offset); }

static ssize_t writes_at(int file, const void *bytes, size_t len, off64_t offset) {
    if (fails("pwrite")) {
        if (!is_short)
            return -1;
        len = len > 7 ? 7 : len;
    }
    return syscall(SYS_pwrite64, file, bytes, len, offset);
}
ssize_t pwrite(int file, const void *bytes, size_t len, off_t offset) { return writes_at(file, bytes, len, offset); }
ssize_t pwrite64(int file, const void *bytes, size_t len, off64_t offset) { return writes_at(file, bytes, len, offset); }

off_t lseek(int file, off_t offset, int whence) {
    if (fails("lseek"))
        return -1;
    return syscall(SYS_lseek, file, offset, whence);
}
off64_t lseek64(int file, off64_t offset, int whence) {
    if (fails("lseek"))
        return -1;
    return syscall(SYS_lseek, file, offset, whence);
}

/* Only maps of files: the runtime cannot do without its stacks. */
static void *maps(void *at, size_t len, int protection, int flags, int file, off_t offset) {
    if (file >= 0 && fails("mmap"))
        return MAP_FAILED;
    return (void *)syscall(SYS_mmap, at, len, protection, flags, file, offset);
}
void *mmap(void *at, size_t len, int protection, int flags, int file, off_t offset) {
    return maps(at, len, protection, flags, file, offset);
}
void *mmap64(void *at, size_t len, int protection, int flags, int file, off64_t offset) {
    return maps(at, len, protection, flags, file, offset);
}

int fsync(int file) { return fails("fsync") ? -1 : (int)syscall(SYS_fsync, file); }
int fdatasync(int file) { return fails("fsync") ? -1 : (int)syscall(SYS_fdatasync, file); }
int fchmod(int file, mode_t mode) { return fails("fchmod") ? -1 : (int)syscall(SYS_fchmod, file, mode); }
int ftruncate(int file, off_t len) { return fails("ftruncate") ? -1 : (int)syscall(SYS_ftruncate, file, len); }
int ftruncate64(int file, off64_t len) { return fails("ftruncate") ? -1 : (int)syscall(SYS_ftruncate, file, len); }

int close(int file) {
    int wrong = fails("close");
    int closed = (int)syscall(SYS_close, file);
    if (wrong) {
        errno = error;
        return -1;
    }
    return closed;
}

int rename(const char *one, const char *other) {
    return fails("rename") ? -1 : REAL(rename)(one, other);
}
int renameat(int at, const char *one, int to, const char *other) {
    return fails("rename") ? -1 : REAL(renameat)(at, one, to, other);
}
int renameat2(int at, const char *one, int to, const char *other, unsigned flags) {
    return fails("rename") ? -1 : (int)syscall(SYS_renameat2, at, one, to, other, flags);
}
int link(const char *one, const char *other) {
    return fails("rename") ? -1 : REAL(link)(one, other);
}
int linkat(int at, const char *one, int to, const char *other, int flags) {
    return fails("rename") ? -1 : REAL(linkat)(at, one, to, other, flags);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*begin)(void *), void *with) {
    if (fails("pthread_create"))
        return error;
    return REAL(pthread_create)(thread, attributes, begin, with);
}
