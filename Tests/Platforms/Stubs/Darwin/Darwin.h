// The C library of Apple's platforms, as far as Errand uses it. Names and types match its headers (xnu, Libc). The C
// names differ, to avoid conflicts with the build system's library.
#define NAMED(name) __attribute__((swift_name(name)))
#define NEWTYPE(type, name) typedef type apple_##name NAMED(#name)

typedef __SIZE_TYPE__ size_t;
typedef long apple_ssize;
NEWTYPE(unsigned short, mode_t);
NEWTYPE(unsigned short, nlink_t);
NEWTYPE(long long, off_t);
NEWTYPE(int, dev_t);
NEWTYPE(unsigned long long, ino_t);
NEWTYPE(int, pid_t);
NEWTYPE(unsigned int, uid_t);
NEWTYPE(unsigned int, gid_t);
NEWTYPE(long, time_t);
NEWTYPE(int, suseconds_t);
NEWTYPE(unsigned int, socklen_t);
NEWTYPE(unsigned char, sa_family_t);
NEWTYPE(unsigned short, in_port_t);
NEWTYPE(unsigned int, in_addr_t);
NEWTYPE(unsigned int, nfds_t);
NEWTYPE(unsigned long long, rlim_t);
NEWTYPE(unsigned int, sigset_t);
NEWTYPE(unsigned int, useconds_t);
NEWTYPE(unsigned long, tcflag_t);
NEWTYPE(unsigned long, clock_t);
// An unnamed enumeration, which Swift imports as a structure.
typedef enum : unsigned int {
    apple_CLOCK_REALTIME NAMED("CLOCK_REALTIME") = 0,
    apple_CLOCK_MONOTONIC NAMED("CLOCK_MONOTONIC") = 6,
    apple_CLOCK_PROCESS_CPUTIME_ID NAMED("CLOCK_PROCESS_CPUTIME_ID") = 12,
    apple_CLOCK_THREAD_CPUTIME_ID NAMED("CLOCK_THREAD_CPUTIME_ID") = 16,
} apple_clockid_t NAMED("clockid_t");

struct NAMED("timespec") apple_timespec { apple_time_t tv_sec; long tv_nsec; };
struct NAMED("timeval") apple_timeval { apple_time_t tv_sec; apple_suseconds_t tv_usec; };
struct NAMED("rusage") apple_rusage {
    struct apple_timeval ru_utime; struct apple_timeval ru_stime; long ru_maxrss; long ru_ixrss; long ru_idrss;
    long ru_isrss; long ru_minflt; long ru_majflt; long ru_nswap; long ru_inblock; long ru_oublock; long ru_msgsnd;
    long ru_msgrcv; long ru_nsignals; long ru_nvcsw; long ru_nivcsw;
};
struct NAMED("stat") apple_stat {
    apple_dev_t st_dev; apple_mode_t st_mode; apple_nlink_t st_nlink; apple_ino_t st_ino; apple_uid_t st_uid;
    apple_gid_t st_gid; apple_dev_t st_rdev; struct apple_timespec st_atimespec; struct apple_timespec st_mtimespec;
    struct apple_timespec st_ctimespec; struct apple_timespec st_birthtimespec; apple_off_t st_size; long long st_blocks;
    int st_blksize; unsigned int st_flags; unsigned int st_gen;
};
struct NAMED("statvfs") apple_statvfs {
    unsigned long f_bsize; unsigned long f_frsize; unsigned int f_blocks; unsigned int f_bfree; unsigned int f_bavail;
    unsigned int f_files; unsigned int f_ffree; unsigned int f_favail; unsigned long f_fsid; unsigned long f_flag;
    unsigned long f_namemax;
};
struct NAMED("dirent") apple_dirent {
    unsigned long long d_ino; unsigned long long d_seekoff; unsigned short d_reclen; unsigned short d_namlen;
    unsigned char d_type; char d_name[1024];
};
typedef struct NAMED("DIR") apple_directory { int __dd_fd; } apple_directory;
typedef struct NAMED("FILE") apple_file { int _r; } apple_file;
struct NAMED("in_addr") apple_in_addr { apple_in_addr_t s_addr; };
struct NAMED("sockaddr") apple_sockaddr { unsigned char sa_len; apple_sa_family_t sa_family; char sa_data[14]; };
struct NAMED("sockaddr_in") apple_sockaddr_in {
    unsigned char sin_len; apple_sa_family_t sin_family; apple_in_port_t sin_port; struct apple_in_addr sin_addr;
    char sin_zero[8];
};
// A union; `s6_addr` is a macro for one of its members, which Swift doesn't import.
struct NAMED("in6_addr") apple_in6_addr {
    union { unsigned char __u6_addr8[16]; unsigned short __u6_addr16[8]; unsigned int __u6_addr32[4]; } __u6_addr;
};
struct NAMED("sockaddr_in6") apple_sockaddr_in6 {
    unsigned char sin6_len; apple_sa_family_t sin6_family; apple_in_port_t sin6_port; unsigned int sin6_flowinfo;
    struct apple_in6_addr sin6_addr; unsigned int sin6_scope_id;
};
struct NAMED("passwd") apple_passwd {
    char *pw_name; char *pw_passwd; apple_uid_t pw_uid; apple_gid_t pw_gid; apple_time_t pw_change; char *pw_class;
    char *pw_gecos; char *pw_dir; char *pw_shell; apple_time_t pw_expire;
};
struct NAMED("linger") apple_linger { int l_onoff; int l_linger; };
struct NAMED("pollfd") apple_pollfd { int fd; short events; short revents; };
struct NAMED("rlimit") apple_rlimit { apple_rlim_t rlim_cur; apple_rlim_t rlim_max; };
struct NAMED("winsize") apple_winsize {
    unsigned short ws_row; unsigned short ws_col; unsigned short ws_xpixel; unsigned short ws_ypixel;
};
struct NAMED("termios") apple_termios {
    apple_tcflag_t c_iflag; apple_tcflag_t c_oflag; apple_tcflag_t c_cflag; apple_tcflag_t c_lflag;
    unsigned char c_cc[20]; unsigned long c_ispeed; unsigned long c_ospeed;
};
struct NAMED("_opaque_pthread_t") apple_thread { long __sig; char __opaque[8176]; };
typedef struct apple_thread *apple_pthread_t NAMED("pthread_t");
struct NAMED("_opaque_pthread_attr_t") apple_thread_attributes { long __sig; char __opaque[56]; };
typedef struct apple_thread_attributes apple_pthread_attr_t NAMED("pthread_attr_t");
typedef void *apple_posix_spawn_file_actions_t NAMED("posix_spawn_file_actions_t");
typedef void *apple_posix_spawnattr_t NAMED("posix_spawnattr_t");
typedef void (*apple_sig_t)(int) NAMED("sig_t");

#define FUNCTION(result, swift, c, ...) result apple_##c(__VA_ARGS__) NAMED(swift)
FUNCTION(int, "getter:errno()", errno, void);
FUNCTION(void, "setter:errno(_:)", set_errno, int);
FUNCTION(int, "open(_:_:)", open, const char *, int);
FUNCTION(int, "open(_:_:_:)", open_mode, const char *, int, apple_mode_t);
FUNCTION(int, "openat(_:_:_:)", openat, int, const char *, int);
FUNCTION(int, "openat(_:_:_:_:)", openat_mode, int, const char *, int, apple_mode_t);
FUNCTION(int, "close(_:)", close, int);
FUNCTION(apple_ssize, "read(_:_:_:)", read, int, void *, size_t);
FUNCTION(apple_ssize, "write(_:_:_:)", write, int, const void *, size_t);
FUNCTION(apple_ssize, "pread(_:_:_:_:)", pread, int, void *, size_t, apple_off_t);
FUNCTION(apple_ssize, "pwrite(_:_:_:_:)", pwrite, int, const void *, size_t, apple_off_t);
FUNCTION(apple_off_t, "lseek(_:_:_:)", lseek, int, apple_off_t, int);
FUNCTION(int, "stat(_:_:)", stat, const char *, struct apple_stat *);
FUNCTION(int, "lstat(_:_:)", lstat, const char *, struct apple_stat *);
FUNCTION(int, "fstat(_:_:)", fstat, int, struct apple_stat *);
FUNCTION(int, "fstatat(_:_:_:_:)", fstatat, int, const char *, struct apple_stat *, int);
FUNCTION(int, "statvfs(_:_:)", statvfs, const char *, struct apple_statvfs *);
FUNCTION(int, "fstatvfs(_:_:)", fstatvfs, int, struct apple_statvfs *);
FUNCTION(int, "unlink(_:)", unlink, const char *);
FUNCTION(int, "unlinkat(_:_:_:)", unlinkat, int, const char *, int);
FUNCTION(int, "rename(_:_:)", rename, const char *, const char *);
FUNCTION(int, "link(_:_:)", link, const char *, const char *);
FUNCTION(int, "symlink(_:_:)", symlink, const char *, const char *);
FUNCTION(int, "mkdir(_:_:)", mkdir, const char *, apple_mode_t);
FUNCTION(int, "mkfifo(_:_:)", mkfifo, const char *, apple_mode_t);
FUNCTION(int, "rmdir(_:)", rmdir, const char *);
FUNCTION(int, "chmod(_:_:)", chmod, const char *, apple_mode_t);
FUNCTION(int, "fchmod(_:_:)", fchmod, int, apple_mode_t);
FUNCTION(int, "ftruncate(_:_:)", ftruncate, int, apple_off_t);
FUNCTION(int, "truncate(_:_:)", truncate, const char *, apple_off_t);
FUNCTION(void, "sync()", sync, void);
FUNCTION(apple_clock_t, "clock()", clock, void);
FUNCTION(char * _Nullable * _Nonnull, "getter:environ()", environ, void);
FUNCTION(int, "fsync(_:)", fsync, int);
FUNCTION(int, "flock(_:_:)", flock, int, int);
FUNCTION(int, "access(_:_:)", access, const char *, int);
FUNCTION(int, "dup(_:)", dup, int);
FUNCTION(int, "dup2(_:_:)", dup2, int, int);
FUNCTION(int, "pipe(_:)", pipe, int *);
FUNCTION(int, "fcntl(_:_:)", fcntl, int, int);
FUNCTION(int, "fcntl(_:_:_:)", fcntl_value, int, int, int);
FUNCTION(int, "ioctl(_:_:_:)", ioctl, int, unsigned long, void *);
FUNCTION(int, "futimens(_:_:)", futimens, int, const struct apple_timespec *);
FUNCTION(int, "utimensat(_:_:_:_:)", utimensat, int, const char *, const struct apple_timespec *, int);
FUNCTION(apple_directory *, "opendir(_:)", opendir, const char *);
FUNCTION(struct apple_dirent *, "readdir(_:)", readdir, apple_directory *);
FUNCTION(int, "closedir(_:)", closedir, apple_directory *);
FUNCTION(long, "sysconf(_:)", sysconf, int);
FUNCTION(int, "isatty(_:)", isatty, int);
FUNCTION(apple_pid_t, "getpid()", getpid, void);
FUNCTION(apple_pid_t, "getppid()", getppid, void);
FUNCTION(apple_uid_t, "geteuid()", geteuid, void);
FUNCTION(apple_uid_t, "getuid()", getuid, void);
FUNCTION(char *, "getenv(_:)", getenv, const char *);
FUNCTION(int, "setenv(_:_:_:)", setenv, const char *, const char *, int);
FUNCTION(int, "unsetenv(_:)", unsetenv, const char *);
FUNCTION(char *, "strerror(_:)", strerror, int);
FUNCTION(int, "strerror_r(_:_:_:)", strerror_r, int, char *, size_t);
FUNCTION(char *, "strdup(_:)", strdup, const char *);
FUNCTION(size_t, "strlen(_:)", strlen, const char *);
FUNCTION(void *, "malloc(_:)", malloc, size_t);
FUNCTION(void *, "realloc(_:_:)", realloc, void *, size_t);
FUNCTION(void, "free(_:)", free, void *);
FUNCTION(void *, "memcpy(_:_:_:)", memcpy, void *, const void *, size_t);
FUNCTION(void *, "memmove(_:_:_:)", memmove, void *, const void *, size_t);
FUNCTION(int, "memcmp(_:_:_:)", memcmp, const void *, const void *, size_t);
FUNCTION(void *, "memchr(_:_:_:)", memchr, const void *, int, size_t);
FUNCTION(void *, "memset(_:_:_:)", memset, void *, int, size_t);
__attribute__((noreturn)) FUNCTION(void, "exit(_:)", exit, int);
__attribute__((noreturn)) FUNCTION(void, "_exit(_:)", underscore_exit, int);
FUNCTION(int, "kill(_:_:)", kill, apple_pid_t, int);
FUNCTION(apple_sig_t, "signal(_:_:)", signal, int, apple_sig_t);
FUNCTION(int, "sigemptyset(_:)", sigemptyset, apple_sigset_t *);
FUNCTION(int, "sigaddset(_:_:)", sigaddset, apple_sigset_t *, int);
FUNCTION(int, "pthread_sigmask(_:_:_:)", pthread_sigmask, int, const apple_sigset_t *, apple_sigset_t *);
FUNCTION(int, "usleep(_:)", usleep, apple_useconds_t);
FUNCTION(apple_time_t, "time(_:)", time, apple_time_t *);
FUNCTION(apple_pid_t, "waitpid(_:_:_:)", waitpid, apple_pid_t, int *, int);
FUNCTION(int, "getrlimit(_:_:)", getrlimit, int, struct apple_rlimit *);
FUNCTION(int, "setrlimit(_:_:)", setrlimit, int, const struct apple_rlimit *);
FUNCTION(int, "sysctlbyname(_:_:_:_:_:)", sysctlbyname, const char *, void *, size_t *, void *, size_t);
FUNCTION(int, "socket(_:_:_:)", socket, int, int, int);
FUNCTION(int, "bind(_:_:_:)", bind, int, const struct apple_sockaddr *, apple_socklen_t);
FUNCTION(int, "connect(_:_:_:)", connect, int, const struct apple_sockaddr *, apple_socklen_t);
FUNCTION(int, "listen(_:_:)", listen, int, int);
FUNCTION(int, "accept(_:_:_:)", accept, int, struct apple_sockaddr *, apple_socklen_t *);
FUNCTION(int, "getsockname(_:_:_:)", getsockname, int, struct apple_sockaddr *, apple_socklen_t *);
FUNCTION(int, "setsockopt(_:_:_:_:_:)", setsockopt, int, int, int, const void *, apple_socklen_t);
FUNCTION(int, "getsockopt(_:_:_:_:_:)", getsockopt, int, int, int, void *, apple_socklen_t *);
FUNCTION(int, "shutdown(_:_:)", shutdown, int, int);
FUNCTION(apple_ssize, "send(_:_:_:_:)", send, int, const void *, size_t, int);
FUNCTION(apple_ssize, "recv(_:_:_:_:)", recv, int, void *, size_t, int);
FUNCTION(int, "poll(_:_:_:)", poll, struct apple_pollfd *, apple_nfds_t, int);
FUNCTION(unsigned int, "inet_addr(_:)", inet_addr, const char *);
FUNCTION(int, "inet_pton(_:_:_:)", inet_pton, int, const char *, void *);
FUNCTION(const char *, "inet_ntop(_:_:_:_:)", inet_ntop, int, const void *, char *, apple_socklen_t);
FUNCTION(int, "inet_aton(_:_:)", inet_aton, const char *, struct apple_in_addr *);
FUNCTION(int, "tcgetattr(_:_:)", tcgetattr, int, struct apple_termios *);
FUNCTION(int, "tcsetattr(_:_:_:)", tcsetattr, int, int, const struct apple_termios *);
FUNCTION(apple_pthread_t _Nonnull, "pthread_self()", pthread_self, void);
FUNCTION(int, "pthread_attr_init(_:)", pthread_attr_init, apple_pthread_attr_t * _Nonnull);
FUNCTION(int, "pthread_attr_destroy(_:)", pthread_attr_destroy, apple_pthread_attr_t * _Nonnull);
FUNCTION(int, "pthread_attr_setstacksize(_:_:)", pthread_attr_setstacksize, apple_pthread_attr_t * _Nonnull, size_t);
FUNCTION(int, "pthread_attr_setdetachstate(_:_:)", pthread_attr_setdetachstate, apple_pthread_attr_t * _Nonnull, int);
FUNCTION(int, "pthread_create(_:_:_:_:)", pthread_create, apple_pthread_t _Nullable * _Nonnull,
    const apple_pthread_attr_t * _Nullable, void * _Nullable (* _Nonnull)(void * _Nonnull), void * _Nullable);
FUNCTION(int, "pthread_join(_:_:)", pthread_join, apple_pthread_t _Nonnull, void * _Nullable * _Nullable);
FUNCTION(int, "clock_gettime(_:_:)", clock_gettime, apple_clockid_t, struct apple_timespec *);
FUNCTION(int, "getrusage(_:_:)", getrusage, int, struct apple_rusage *);
// Prohibited or useless on the other systems.
#ifdef APPLE_macOS
FUNCTION(int, "posix_spawn(_:_:_:_:_:_:)", posix_spawn, apple_pid_t *, const char *,
    const apple_posix_spawn_file_actions_t *, const apple_posix_spawnattr_t *, char *const *, char *const *);
FUNCTION(int, "posix_spawnp(_:_:_:_:_:_:)", posix_spawnp, apple_pid_t *, const char *,
    const apple_posix_spawn_file_actions_t *, const apple_posix_spawnattr_t *, char *const *, char *const *);
FUNCTION(int, "posix_spawnattr_init(_:)", posix_spawnattr_init, apple_posix_spawnattr_t *);
FUNCTION(int, "posix_spawnattr_destroy(_:)", posix_spawnattr_destroy, apple_posix_spawnattr_t *);
FUNCTION(int, "posix_spawnattr_setsigmask(_:_:)", posix_spawnattr_setsigmask, apple_posix_spawnattr_t *,
    const apple_sigset_t *);
FUNCTION(int, "posix_spawnattr_setflags(_:_:)", posix_spawnattr_setflags, apple_posix_spawnattr_t *, short);
FUNCTION(int, "posix_spawn_file_actions_init(_:)", posix_spawn_file_actions_init, apple_posix_spawn_file_actions_t *);
FUNCTION(int, "posix_spawn_file_actions_destroy(_:)", posix_spawn_file_actions_destroy,
    apple_posix_spawn_file_actions_t *);
FUNCTION(int, "posix_spawn_file_actions_addopen(_:_:_:_:_:)", posix_spawn_file_actions_addopen,
    apple_posix_spawn_file_actions_t *, int, const char *, int, apple_mode_t);
FUNCTION(int, "posix_spawn_file_actions_adddup2(_:_:_:)", posix_spawn_file_actions_adddup2,
    apple_posix_spawn_file_actions_t *, int, int);
#endif
FUNCTION(int, "raise(_:)", raise, int);
struct NAMED("Dl_info") apple_dl_info {
    const char *dli_fname; void *dli_fbase; const char *dli_sname; void *dli_saddr;
};
FUNCTION(int, "dladdr(_:_:)", dladdr, const void *, struct apple_dl_info *);
struct NAMED("malloc_statistics_t") apple_malloc_statistics {
    unsigned blocks_in_use; size_t size_in_use, max_size_in_use, size_allocated;
};
FUNCTION(void, "malloc_zone_statistics(_:_:)", malloc_zone_statistics, void * _Nullable,
         struct apple_malloc_statistics *);
FUNCTION(struct apple_passwd *, "getpwuid(_:)", getpwuid, apple_uid_t);
FUNCTION(int, "fflush(_:)", fflush, apple_file *);
FUNCTION(int, "fputs(_:_:)", fputs, const char *, apple_file *);
extern apple_file *apple_stdout NAMED("stdout");
extern apple_file *apple_stderr NAMED("stderr");
FUNCTION(apple_sig_t _Nonnull, "getter:SIG_IGN()", SIG_IGN, void);
FUNCTION(apple_sig_t _Nullable, "getter:SIG_DFL()", SIG_DFL, void);
FUNCTION(int, "atexit(_:)", atexit, void (*)(void));
FUNCTION(int, "getpeername(_:_:_:)", getpeername, int, struct apple_sockaddr *, apple_socklen_t *);
FUNCTION(double, "pow(_:_:)", pow, double, double);
FUNCTION(double, "log(_:)", log, double);
FUNCTION(double, "sqrt(_:)", sqrt, double);
FUNCTION(void, "arc4random_buf(_:_:)", arc4random_buf, void *, size_t);
FUNCTION(int, "gethostname(_:_:)", gethostname, char *, size_t);

FUNCTION(struct apple_in6_addr, "getter:in6addr_loopback()", in6addr_loopback, void);

#define CONSTANT(type, name, value) static const type apple_##name NAMED(#name) = value
CONSTANT(int, _SC_PAGESIZE, 29);
CONSTANT(apple_mode_t, S_IFMT, 0170000);
CONSTANT(apple_mode_t, S_IFDIR, 0040000);
CONSTANT(apple_mode_t, S_IFREG, 0100000);
CONSTANT(apple_mode_t, S_IFLNK, 0120000);
CONSTANT(apple_mode_t, S_IFSOCK, 0140000);
CONSTANT(apple_mode_t, S_IRUSR, 0000400);
CONSTANT(apple_mode_t, S_IWUSR, 0000200);
CONSTANT(unsigned long, TIOCGWINSZ, 0x40087468);
CONSTANT(int, AT_FDCWD, -2);
CONSTANT(int, UTIME_OMIT, -2);
CONSTANT(int, UTIME_NOW, -1);
CONSTANT(int, ECHO, 8);
CONSTANT(int, O_RDONLY, 0);
CONSTANT(int, O_WRONLY, 1);
CONSTANT(int, O_RDWR, 2);
CONSTANT(int, O_NONBLOCK, 4);
CONSTANT(int, O_APPEND, 8);
CONSTANT(int, O_NOFOLLOW, 0x100);
CONSTANT(int, O_CREAT, 0x200);
CONSTANT(int, O_TRUNC, 0x400);
CONSTANT(int, O_EXCL, 0x800);
CONSTANT(int, O_NOCTTY, 0x20000);
CONSTANT(int, O_DIRECTORY, 0x100000);
CONSTANT(int, O_CLOEXEC, 0x1000000);
CONSTANT(int, EPERM, 1);
CONSTANT(int, ENOENT, 2);
CONSTANT(int, EINTR, 4);
CONSTANT(int, EIO, 5);
CONSTANT(int, ENXIO, 6);
CONSTANT(int, EBADF, 9);
CONSTANT(int, ENOMEM, 0xc);
CONSTANT(int, EACCES, 0xd);
CONSTANT(int, EEXIST, 0x11);
CONSTANT(int, EXDEV, 0x12);
CONSTANT(int, ENOTDIR, 0x14);
CONSTANT(int, EISDIR, 0x15);
CONSTANT(int, EINVAL, 0x16);
CONSTANT(int, ENFILE, 0x17);
CONSTANT(int, EMFILE, 0x18);
CONSTANT(int, EAFNOSUPPORT, 0x2f);
CONSTANT(int, EADDRNOTAVAIL, 0x31);
CONSTANT(int, ENOBUFS, 0x37);
CONSTANT(int, EFBIG, 0x1b);
CONSTANT(int, ENOSPC, 0x1c);
CONSTANT(int, ESPIPE, 0x1d);
CONSTANT(int, EROFS, 0x1e);
CONSTANT(int, EMLINK, 0x1f);
CONSTANT(int, EPIPE, 0x20);
CONSTANT(int, EAGAIN, 0x23);
CONSTANT(int, EWOULDBLOCK, 0x23);
CONSTANT(int, EINPROGRESS, 0x24);
CONSTANT(int, ENOTSUP, 0x2d);
CONSTANT(int, EADDRINUSE, 0x30);
CONSTANT(int, ECONNRESET, 0x36);
CONSTANT(int, ENOTCONN, 0x39);
CONSTANT(int, ETIMEDOUT, 0x3c);
CONSTANT(int, ECONNREFUSED, 0x3d);
CONSTANT(int, ELOOP, 0x3e);
CONSTANT(int, ENAMETOOLONG, 0x3f);
CONSTANT(int, ENOTEMPTY, 0x42);
CONSTANT(int, EDQUOT, 0x45);
CONSTANT(int, ENOLCK, 0x4d);
CONSTANT(int, ENOSYS, 0x4e);
CONSTANT(int, EOPNOTSUPP, 0x66);
CONSTANT(int, AF_INET, 2);
CONSTANT(int, AF_INET6, 0x1e);
CONSTANT(int, SOCK_STREAM, 1);
CONSTANT(int, SOL_SOCKET, 0xffff);
CONSTANT(int, SO_REUSEADDR, 4);
CONSTANT(int, SO_LINGER, 0x80);
CONSTANT(int, SO_RCVTIMEO, 0x1006);
CONSTANT(int, SO_SNDTIMEO, 0x1005);
CONSTANT(int, SO_SNDBUF, 0x1001);
CONSTANT(int, SO_RCVBUF, 0x1002);
CONSTANT(int, SO_NOSIGPIPE, 0x1022);
CONSTANT(int, SO_ERROR, 0x1007);
CONSTANT(int, IPPROTO_TCP, 6);
CONSTANT(int, TCP_NODELAY, 1);
CONSTANT(int, MSG_PEEK, 2);
CONSTANT(int, MSG_DONTWAIT, 0x80);
CONSTANT(int, SHUT_RD, 0);
CONSTANT(int, SHUT_WR, 1);
CONSTANT(int, SHUT_RDWR, 2);
CONSTANT(int, F_GETFD, 1);
CONSTANT(int, F_SETFD, 2);
CONSTANT(int, F_GETFL, 3);
CONSTANT(int, F_SETFL, 4);
CONSTANT(int, F_FULLFSYNC, 0x33);
CONSTANT(int, FD_CLOEXEC, 1);
CONSTANT(int, LOCK_SH, 1);
CONSTANT(int, LOCK_EX, 2);
CONSTANT(int, LOCK_NB, 4);
CONSTANT(int, LOCK_UN, 8);
CONSTANT(int, SEEK_SET, 0);
CONSTANT(int, SEEK_CUR, 1);
CONSTANT(int, SEEK_END, 2);
CONSTANT(int, POLLIN, 1);
CONSTANT(int, POLLOUT, 4);
CONSTANT(int, POLLERR, 8);
CONSTANT(int, POLLHUP, 0x10);
CONSTANT(int, RLIMIT_FSIZE, 1);
CONSTANT(int, RLIMIT_NOFILE, 8);
CONSTANT(int, PTHREAD_CREATE_DETACHED, 2);
CONSTANT(int, STDIN_FILENO, 0);
CONSTANT(int, STDOUT_FILENO, 1);
CONSTANT(int, STDERR_FILENO, 2);
CONSTANT(int, SIGHUP, 1);
CONSTANT(int, SIGINT, 2);
CONSTANT(int, SIGQUIT, 3);
CONSTANT(int, SIGKILL, 9);
CONSTANT(int, SIGPIPE, 0xd);
CONSTANT(int, SIGXFSZ, 25);
CONSTANT(int, SIGTERM, 0xf);
CONSTANT(int, SIGSTOP, 0x11);
CONSTANT(int, SIGCONT, 0x13);
CONSTANT(int, SIGWINCH, 0x1c);
CONSTANT(int, WNOHANG, 1);
CONSTANT(int, R_OK, 4);
CONSTANT(int, W_OK, 2);
CONSTANT(int, F_OK, 0);
CONSTANT(int, X_OK, 1);
CONSTANT(int, POSIX_SPAWN_SETSIGMASK, 0x0008);
CONSTANT(int, POSIX_SPAWN_CLOEXEC_DEFAULT, 0x4000);
CONSTANT(int, SIG_BLOCK, 1);
CONSTANT(int, SIG_UNBLOCK, 2);
CONSTANT(int, SIG_SETMASK, 3);
CONSTANT(int, TCSANOW, 0);
CONSTANT(int, TCSAFLUSH, 2);
CONSTANT(apple_clock_t, CLOCKS_PER_SEC, 1000000);
CONSTANT(int, EXIT_SUCCESS, 0);
CONSTANT(int, EXIT_FAILURE, 1);
