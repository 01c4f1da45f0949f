// A library for LD_PRELOAD that lets chosen calls of a program fail. Loaded into the command, it runs the program's
// main once for every line on standard input, in a process of its own, which saves the time that programs need to
// start:
//
//     CALLS FIRST LAST ERRNO FOLDER
//
// CALLS names what is counted ("memory", or some of "open,read,write,sync,rename,close"), from main on; those from the
// FIRST to the LAST fail with ERRNO (FIRST 0: none); where ERRNO is negative they succeed, but the process gets that
// signal before. The process runs in FOLDER and writes to FOLDER.out and FOLDER.err.
// Each line is answered by "STATUS COUNT": that of waitpid, and how many calls there were.
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
}

namespace {

struct Faults {
  bool on = false;
  char calls[64] = "";
  long first = 0, last = 0;
  int code = 0;
  std::atomic<long>* count = nullptr;
} faults;

/// Where the OpenMP library lies. What it allocates for its threads is not the program's: it ends the process when it
/// gets nothing.
struct Range {
  std::uintptr_t begin = 0, end = 0;
  [[nodiscard]] bool has(const void* address) const {
    const auto place = reinterpret_cast<std::uintptr_t>(address);
    return begin <= place && place < end;
  }
} openmp;

int find_openmp(dl_phdr_info* library, std::size_t, void*) {
  if (std::strstr(library->dlpi_name, "omp.so") == nullptr) return 0;
  openmp.begin = library->dlpi_addr;
  for (int i = 0; i < library->dlpi_phnum; ++i)
    openmp.end = std::max<std::uintptr_t>(
        openmp.end, library->dlpi_addr + library->dlpi_phdr[i].p_vaddr + library->dlpi_phdr[i].p_memsz);
  return 1;
}

/// Counts a call; true when it is to fail.
bool fails(const char* call) {
  if (!faults.on || std::strstr(faults.calls, call) == nullptr) return false;
  const long number = ++*faults.count;
  if (number < faults.first || number > faults.last) return false;
  if (faults.code < 0) raise(-faults.code);
  else errno = faults.code;
  return faults.code > 0;
}

bool no_memory(void* caller) { return faults.on && !openmp.has(caller) && fails("memory"); }

template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

using Main = int(int, char**, char**);
Main* program = nullptr;

void send_to_file(int stream, const char* folder, const char* extension) {
  char name[4200];
  std::snprintf(name, sizeof name, "%s%s", folder, extension);
  const int file = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  dup2(file, stream);
  close(file);
}

[[noreturn]] void run_once(const char* folder, int argc, char** argv, char** environment) {
  send_to_file(STDOUT_FILENO, folder, ".out");
  send_to_file(STDERR_FILENO, folder, ".err");
  if (chdir(folder) != 0) _exit(99);
  constexpr unsigned seconds = 20;
  alarm(seconds);  // a process that waits for ever is seen by its status
  faults.on = faults.calls[0] != '\0';
  const int code = program(argc, argv, environment);
  faults.on = false;
  std::exit(code);
}

int serve(int argc, char** argv, char** environment) {
  dl_iterate_phdr(find_openmp, nullptr);
  faults.count = static_cast<std::atomic<long>*>(
      mmap(nullptr, sizeof(std::atomic<long>), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  char line[4096], folder[4096];
  while (std::fgets(line, sizeof line, stdin) != nullptr) {
    if (std::sscanf(line, "%63s %ld %ld %d %4095s", faults.calls, &faults.first, &faults.last, &faults.code, folder) !=
        5)
      return 98;
    *faults.count = 0;
    const pid_t child = fork();
    if (child == 0) run_once(folder, argc, argv, environment);
    int status = 0;
    waitpid(child, &status, 0);
    std::printf("%d %ld\n", status, faults.count->load());
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace

extern "C" {

int __libc_start_main(Main* main, int argc, char** argv, void (*init)(), void (*fini)(), void (*rtld_fini)(),
                      void* stack_end) {
  program = main;
  return next<int(Main*, int, char**, void (*)(), void (*)(), void (*)(), void*)>("__libc_start_main")(
      serve, argc, argv, init, fini, rtld_fini, stack_end);
}

void* malloc(std::size_t bytes) { return no_memory(__builtin_return_address(0)) ? nullptr : __libc_malloc(bytes); }
void* calloc(std::size_t count, std::size_t bytes) {
  return no_memory(__builtin_return_address(0)) ? nullptr : __libc_calloc(count, bytes);
}
void* realloc(void* old, std::size_t bytes) {
  return no_memory(__builtin_return_address(0)) ? nullptr : __libc_realloc(old, bytes);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  return no_memory(__builtin_return_address(0)) ? nullptr : __libc_memalign(alignment, bytes);
}
int posix_memalign(void** result, std::size_t alignment, std::size_t bytes) {
  if (no_memory(__builtin_return_address(0))) return ENOMEM;
  *result = __libc_memalign(alignment, bytes);
  return *result == nullptr ? ENOMEM : 0;
}

int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const int mode = va_arg(rest, int);  // garbage where there is none, which is then not looked at
  va_end(rest);
  return fails("open") ? -1 : next<int(const char*, int, ...)>("open")(path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const int mode = va_arg(rest, int);
  va_end(rest);
  return fails("open") ? -1 : next<int(const char*, int, ...)>("open")(path, flags | O_LARGEFILE, mode);
}
std::FILE* fopen(const char* path, const char* how) {
  return fails("open") ? nullptr : next<std::FILE*(const char*, const char*)>("fopen")(path, how);
}
std::FILE* fopen64(const char* path, const char* how) {
  return fails("open") ? nullptr : next<std::FILE*(const char*, const char*)>("fopen64")(path, how);
}
ssize_t read(int file, void* to, std::size_t bytes) {
  return fails("read") ? -1 : next<ssize_t(int, void*, std::size_t)>("read")(file, to, bytes);
}
ssize_t pread(int file, void* to, std::size_t bytes, off_t place) {
  return fails("read") ? -1 : next<ssize_t(int, void*, std::size_t, off_t)>("pread")(file, to, bytes, place);
}
ssize_t write(int file, const void* from, std::size_t bytes) {
  return fails("write") ? -1 : next<ssize_t(int, const void*, std::size_t)>("write")(file, from, bytes);
}
int fsync(int file) { return fails("sync") ? -1 : next<int(int)>("fsync")(file); }
int rename(const char* from, const char* to) {
  return fails("rename") ? -1 : next<int(const char*, const char*)>("rename")(from, to);
}
int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) {
  return fails("rename") ? -1
                         : next<int(int, const char*, int, const char*, unsigned)>("renameat2")(from_folder, from,
                                                                                                to_folder, to, flags);
}
int link(const char* from, const char* to) {
  return fails("rename") ? -1 : next<int(const char*, const char*)>("link")(from, to);
}
int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) {
  return fails("rename")
             ? -1
             : next<int(int, const char*, int, const char*, int)>("linkat")(from_folder, from, to_folder, to, flags);
}
/// The file is closed in any case, as Linux does.
int close(int file) {
  const int result = next<int(int)>("close")(file);
  return fails("close") ? -1 : result;
}

}  // extern "C"
