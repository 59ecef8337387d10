/* A tape of all that is written to the files of a database, and of when it was synced.
 *
 * Preloaded into a server by power.py, which plays the tape back and drops what was not synced.
 * Records: kind, file (its inode), place, length, and then so many bytes.
 *   c  a name came to be (the bytes)      u  a name was removed       d  the folder was synced
 *   w  bytes were written at a place      t  cut or grown to a length s  the file was synced
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST 65536
struct record { int64_t kind, file, place, length; };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int64_t files[MOST]; /* by descriptor: 0 is none of ours, -1 is the folder */
static int tape = -1;

static int (*real_open)(const char *, int, ...);
static ssize_t (*real_write)(int, const void *, size_t);
static ssize_t (*real_pwrite)(int, const void *, size_t, off_t);
static int (*real_truncate)(int, off_t);
static int (*real_fsync)(int);
static int (*real_fdatasync)(int);
static int (*real_unlink)(const char *);
static int (*real_close)(int);

__attribute__((constructor)) static void begin(void) {
  real_open = dlsym(RTLD_NEXT, "open64");
  real_write = dlsym(RTLD_NEXT, "write");
  real_pwrite = dlsym(RTLD_NEXT, "pwrite64");
  real_truncate = dlsym(RTLD_NEXT, "ftruncate64");
  real_fsync = dlsym(RTLD_NEXT, "fsync");
  real_fdatasync = dlsym(RTLD_NEXT, "fdatasync");
  real_unlink = dlsym(RTLD_NEXT, "unlink");
  real_close = dlsym(RTLD_NEXT, "close");
  const char *path = getenv("POWER_TAPE");
  if (path) tape = real_open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
}

/* Whether a path is a file of the database, but not the shared memory, which nobody syncs. */
static int ours(const char *path) {
  const char *folder = getenv("POWER_FOLDER");
  size_t n = folder ? strlen(folder) : 0, m = path ? strlen(path) : 0;
  if (tape < 0 || !n || m <= n + 1 || strncmp(path, folder, n) || path[n] != '/') return 0;
  return strstr(path + n, ".db") && (m < 4 || strcmp(path + m - 4, "-shm"));
}

static int is_folder(const char *path) {
  const char *folder = getenv("POWER_FOLDER");
  return tape >= 0 && folder && path && !strcmp(path, folder);
}

/* One write to the tape: a record is there as a whole, or not at all. Called with the lock. */
static void note(int kind, int64_t file, int64_t place, int64_t length, const void *bytes, size_t n) {
  char *all = malloc(sizeof(struct record) + n);
  struct record head = {kind, file, place, length};
  memcpy(all, &head, sizeof head);
  if (n) memcpy(all + sizeof head, bytes, n);
  if (real_write(tape, all, sizeof head + n) != (ssize_t)(sizeof head + n)) abort();
  free(all);
}

static int64_t inode(int fd) {
  struct stat found;
  return fstat(fd, &found) ? 0 : (int64_t)found.st_ino;
}

static int opened(const char *path, int flags, mode_t mode) {
  int mine = ours(path), folder = is_folder(path);
  if (!mine && !folder) {
    int fd = real_open(path, flags, mode);
    if (fd >= 0 && fd < MOST) files[fd] = 0;
    return fd;
  }
  pthread_mutex_lock(&lock);
  int there = access(path, F_OK) == 0;
  int fd = real_open(path, flags, mode);
  if (fd >= 0 && fd < MOST) {
    files[fd] = folder ? -1 : inode(fd);
    if (mine && !there) {
      const char *name = strrchr(path, '/') + 1;
      note('c', files[fd], 0, (int64_t)strlen(name), name, strlen(name));
    }
    if (mine && there && (flags & O_TRUNC)) note('t', files[fd], 0, 0, NULL, 0);
  }
  pthread_mutex_unlock(&lock);
  return fd;
}

static mode_t mode_of(int flags, va_list rest) { return flags & O_CREAT ? va_arg(rest, mode_t) : 0; }

#define OPEN(name) \
  int name(const char *path, int flags, ...) { \
    va_list rest; \
    va_start(rest, flags); \
    mode_t mode = mode_of(flags, rest); \
    va_end(rest); \
    return opened(path, flags, mode); \
  }
OPEN(open)
OPEN(open64)

static int64_t known(int fd) { return fd >= 0 && fd < MOST && tape >= 0 ? files[fd] : 0; }

ssize_t write(int fd, const void *bytes, size_t n) {
  if (known(fd) <= 0) return real_write(fd, bytes, n);
  pthread_mutex_lock(&lock);
  off_t place = lseek(fd, 0, SEEK_CUR);
  ssize_t done = real_write(fd, bytes, n);
  if (done > 0) note('w', files[fd], place, done, bytes, (size_t)done);
  pthread_mutex_unlock(&lock);
  return done;
}

ssize_t pwrite64(int fd, const void *bytes, size_t n, off_t place) {
  if (known(fd) <= 0) return real_pwrite(fd, bytes, n, place);
  pthread_mutex_lock(&lock);
  ssize_t done = real_pwrite(fd, bytes, n, place);
  if (done > 0) note('w', files[fd], place, done, bytes, (size_t)done);
  pthread_mutex_unlock(&lock);
  return done;
}
ssize_t pwrite(int fd, const void *bytes, size_t n, off_t place) { return pwrite64(fd, bytes, n, place); }

int ftruncate64(int fd, off_t length) {
  if (known(fd) <= 0) return real_truncate(fd, length);
  pthread_mutex_lock(&lock);
  int done = real_truncate(fd, length);
  if (!done) note('t', files[fd], 0, length, NULL, 0);
  pthread_mutex_unlock(&lock);
  return done;
}
int ftruncate(int fd, off_t length) { return ftruncate64(fd, length); }

/* Noted at its begin: what is written meanwhile is not covered. */
static void synced(int fd) {
  pthread_mutex_lock(&lock);
  note(files[fd] < 0 ? 'd' : 's', files[fd], 0, 0, NULL, 0);
  pthread_mutex_unlock(&lock);
}
int fsync(int fd) {
  if (known(fd)) synced(fd);
  return real_fsync(fd);
}
int fdatasync(int fd) {
  if (known(fd)) synced(fd);
  return real_fdatasync(fd);
}

int unlink(const char *path) {
  if (!ours(path)) return real_unlink(path);
  pthread_mutex_lock(&lock);
  int done = real_unlink(path);
  const char *name = strrchr(path, '/') + 1;
  if (!done) note('u', 0, 0, (int64_t)strlen(name), name, strlen(name));
  pthread_mutex_unlock(&lock);
  return done;
}

int close(int fd) {
  if (fd >= 0 && fd < MOST) files[fd] = 0;
  return real_close(fd);
}
