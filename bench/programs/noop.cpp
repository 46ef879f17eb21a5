// A program that exits at once, without a C library: what is left of a start when loading costs nothing.
#include <sys/syscall.h>

extern "C" [[noreturn]] void _start() {
#if defined(__x86_64__)
  __asm__ volatile("syscall" : : "a"(SYS_exit_group), "D"(0) : "memory");
#elif defined(__aarch64__)
  register long number __asm__("x8") = SYS_exit_group;
  register long status __asm__("x0") = 0;
  __asm__ volatile("svc 0" : : "r"(number), "r"(status) : "memory");
#else
#error "write the exit system call of this architecture here"
#endif
  __builtin_unreachable();
}
