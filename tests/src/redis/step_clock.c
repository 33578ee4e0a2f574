/* Preloaded into a Redis: adds the seconds in a shared file to the wall clock that it sees, and to no other clock. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile int64_t *step_us;

__attribute__((constructor)) static void map_step(void) {
    const char *path = getenv("ROLECALL_CLOCK_STEP");
    int file = path ? open(path, O_RDONLY) : -1;
    if (file < 0)
        return;
    void *page = mmap(NULL, sizeof *step_us, PROT_READ, MAP_SHARED, file, 0);
    close(file);
    if (page != MAP_FAILED)
        step_us = page;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    /* The allocator asks for the time before anything is set up, so nothing of libc's is called here. */
    long outcome = syscall(SYS_clock_gettime, clock, now);
    int is_wall = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
    if (outcome == 0 && is_wall && step_us) {
        int64_t ns = now->tv_nsec + *step_us % 1000000 * 1000;
        now->tv_sec += *step_us / 1000000;
        if (ns < 0)
            ns += 1000000000, now->tv_sec -= 1;
        if (ns >= 1000000000)
            ns -= 1000000000, now->tv_sec += 1;
        now->tv_nsec = ns;
    }
    return (int)outcome;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    (void)zone;
    struct timespec wall;
    int outcome = clock_gettime(CLOCK_REALTIME, &wall);
    now->tv_sec = wall.tv_sec;
    now->tv_usec = wall.tv_nsec / 1000;
    return outcome;
}

time_t time(time_t *out) {
    struct timespec wall;
    clock_gettime(CLOCK_REALTIME, &wall);
    if (out)
        *out = wall.tv_sec;
    return wall.tv_sec;
}
