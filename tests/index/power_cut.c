/* Keeps what a disk is sure to have after a power cut: what was flushed.

   Preloaded into a process, it copies each file to $POWER_CUT_KEPT when the process flushes it, under the number of its
   inode, and of a flushed folder the names in it. At the flush with the number $POWER_CUT_AT the process is killed. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
static long flushes = 0;

static void keep_names(int fd, FILE *kept) {
    DIR *folder = fdopendir(openat(fd, ".", O_RDONLY | O_DIRECTORY));
    for (struct dirent *entry; (entry = readdir(folder));)
        if (entry->d_name[0] != '.' || (entry->d_name[1] && entry->d_name[1] != '.'))
            fprintf(kept, "%lu %d %s\n", (unsigned long)entry->d_ino, entry->d_type == DT_DIR, entry->d_name);
    closedir(folder);
}

static void keep_content(int fd, FILE *kept) {
    char path[64], buffer[1 << 16];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    /* A file is opened again only where it must be: closing any descriptor of it would end SQLite's locks. */
    int from = (fcntl(fd, F_GETFL) & O_ACCMODE) == O_WRONLY ? open(path, O_RDONLY) : fd;
    for (ssize_t size, at = 0; (size = pread(from, buffer, sizeof buffer, at)) > 0; at += size)
        fwrite(buffer, 1, size, kept);
    if (from != fd) close(from);
}

static void keep_count(const char *folder) {
    char path[4096];
    snprintf(path, sizeof path, "%s/count", folder);
    FILE *kept = fopen(path, "w");
    fprintf(kept, "%ld", flushes);
    fclose(kept);
}

static int flushed(int fd, const char *name) {
    const char *folder = getenv("POWER_CUT_KEPT");
    if (!folder) return ((int (*)(int))dlsym(RTLD_NEXT, name))(fd); /* POWER_CUT_KEPT is set after the start */
    pthread_mutex_lock(&one_at_a_time);
    if (++flushes == atol(getenv("POWER_CUT_AT"))) kill(getpid(), SIGKILL);
    keep_count(folder);
    struct stat found;
    fstat(fd, &found);
    char path[4096], draft[4100];
    snprintf(path, sizeof path, "%s/%lu", folder, (unsigned long)found.st_ino);
    snprintf(draft, sizeof draft, "%s.new", path);
    FILE *kept = fopen(draft, "w");
    S_ISDIR(found.st_mode) ? keep_names(fd, kept) : keep_content(fd, kept);
    fclose(kept);
    rename(draft, path);
    dup(fd); /* never closed: the number of the inode must not be given to another file */
    pthread_mutex_unlock(&one_at_a_time);
    return 0;
}

int fsync(int fd) { return flushed(fd, "fsync"); }
int fdatasync(int fd) { return flushed(fd, "fdatasync"); }
