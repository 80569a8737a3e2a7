/* What a bad guest has in the place of the probe: the real one, beside which something goes wrong once a trial runs.
 * Compiled with REAL, the file of the real one, and WRONG, what goes wrong. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

extern const char real[], real_end[];
__asm__(".section .rodata\n.global real, real_end\nreal: .incbin \"" REAL "\"\nreal_end:\n.text\n");

/* A kernel that has no such file needs no telling. */
static void tell(const char *path, const char *text) {
  int file = open(path, O_WRONLY);
  if (file < 0) return;
  if (write(file, text, strlen(text)) < 0) _exit(1);
  close(file);
}

/* Fills the port of the lab with bytes that mean nothing, before the real agent opens it. */
static void garbage(void) {
  char bytes[4096];
  int port;
  while ((port = open("/dev/vport0p1", O_RDWR)) < 0 && (port = open("/dev/vport1p1", O_RDWR)) < 0) usleep(1000);
  for (int piece = 0; piece < 64; piece++) {
    for (unsigned i = 0; i < sizeof bytes; i++) bytes[i] = random() >> 7;
    if (write(port, bytes, sizeof bytes) < 0) _exit(1);
  }
  close(port);
}

static void fill(void) {
  char zeros[1 << 16] = {0};
  int file = open("/tmp/full", O_WRONLY | O_CREAT, 0600);
  while (write(file, zeros, sizeof zeros) > 0) {}
}

static void flood(void) {
  int console = open("/dev/console", O_WRONLY);
  for (;;)
    if (write(console, "All work and no play.\n", 22) < 0) _exit(1);
}

/* No thread of the guest runs any more but these. */
static void hang(void) {
  struct sched_param highest = {.sched_priority = 99};
  tell("/proc/sys/kernel/sched_rt_runtime_us", "-1");
  for (int cpu = sysconf(_SC_NPROCESSORS_ONLN) - 1; cpu >= 0; cpu--) {
    cpu_set_t one;
    char server[64];
    /* From 6.12 on the kernel gives others 50 ms of each second, whatever was said above. */
    snprintf(server, sizeof server, "/sys/kernel/debug/sched/fair_server/cpu%d/runtime", cpu);
    tell(server, "0");
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    if (cpu && fork()) continue;
    sched_setaffinity(0, sizeof one, &one);
    sched_setscheduler(0, SCHED_FIFO, &highest);
    for (;;) {}
  }
}

static void crash(void) { tell("/proc/sysrq-trigger", "c"); }

static void fork_without_end(void) {
  for (;;) fork();
}

int main(int count, char **arguments, char **environment) {
  static void (*const wrong[])(void) = {WRONG};
  if (count > 1 && !strcmp(arguments[1], "guest")) {
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
      if (wrong[i] == garbage || wrong[i] == fill) {
        wrong[i]();
      } else if (!fork()) {
        /* The agent makes this folder for each trial. */
        while (access("/tmp/scratch", F_OK)) usleep(1000);
        if (wrong[i] == hang || wrong[i] == crash) sleep(2);
        wrong[i]();
        _exit(0);
      }
    }
  }
  int file = memfd_create("kizami-probe", 0);
  for (const char *at = real; at < real_end;) {
    ssize_t written = write(file, at, real_end - at);
    if (written < 0) return 1;
    at += written;
  }
  fexecve(file, arguments, environment);
  return 1;
}
