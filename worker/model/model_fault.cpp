// The sentence about a SIGSEGV or SIGBUS inside a model. Everything below install() runs in a signal handler: no
// allocation, no lock, no stdio, one write.
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "forklift/shared_model.hpp"
#include "worker/model/fault_table.hpp"
#include "worker/model/file_io.hpp"

namespace forklift {
namespace {

using weights::FaultRegion;

constexpr std::array<int, 2> signals = {SIGSEGV, SIGBUS};
std::array<struct sigaction, signals.size()> previous{};

/// One line of text in a fixed place; what does not fit is left out.
class Line {
 public:
  Line& operator<<(std::string_view text) noexcept {
    for (const char c : text) put(c);
    return *this;
  }
  Line& operator<<(std::uint64_t number) noexcept {
    std::array<char, 20> digits;
    std::size_t begin = digits.size();
    do {
      digits[--begin] = static_cast<char>('0' + number % 10);
      number /= 10;
    } while (number > 0);
    return *this << std::string_view(&digits[begin], digits.size() - begin);
  }
  /// A name from outside: cut, and without control characters.
  Line& quote(std::string_view name) noexcept {
    constexpr std::size_t longest = 300;
    put('\'');
    for (const char c : name.substr(0, longest)) put(static_cast<unsigned char>(c) < 0x20 || c == 0x7F ? '?' : c);
    if (name.size() > longest) *this << "...";
    put('\'');
    return *this;
  }
  void write() noexcept {
    text_[size_++] = '\n';
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text_.data(), size_);
  }

 private:
  void put(char c) noexcept {
    if (size_ + 1 < text_.size()) text_[size_++] = c;
  }
  std::array<char, 2048> text_;
  std::size_t size_ = 0;
};

const TensorView* tensor_at(const FaultRegion& region, std::uintptr_t address) noexcept {
  for (const TensorView& tensor : region.tensors) {
    const auto begin = reinterpret_cast<std::uintptr_t>(tensor.bytes.data());
    if (address >= begin && address - begin < tensor.bytes.size()) return &tensor;
  }
  return nullptr;
}

void name_place(Line& line, const FaultRegion& region, std::uintptr_t address) noexcept {
  if (const TensorView* tensor = tensor_at(region, address)) {
    line << "tensor ";
    line.quote(tensor->name) << " (byte " << address - reinterpret_cast<std::uintptr_t>(tensor->bytes.data()) << " of "
                             << tensor->bytes.size() << ")";
  } else {
    line << "byte " << address - region.begin << " (of no tensor)";
  }
  const std::string_view path = region.path;
  if (path.empty()) {
    line << " of a model in memory";
  } else {
    line << " of the model ";
    line.quote(path);
  }
}

void explain_refusal(Line& line, const FaultRegion& region, std::uintptr_t address) noexcept {
  const bool store = region.access == ModelAccess::read;  // Reading is allowed: it can only have been a store.
  line << (store ? "forklift: a store into " : "forklift: an access to ");
  name_place(line, region, address);
  line << (store
               ? ", which is read-only here: open it with ModelAccess::copy_on_write (changes stay in this process) or "
                 "ModelAccess::shared (all replicas see them)"
               : " was refused");
}

void explain_missing_page(Line& line, const FaultRegion& region, std::uintptr_t address, int code) noexcept {
  line << "forklift: ";
  name_place(line, region, address);
  line << " cannot be read: ";
  struct stat status {};
  const bool known = ::fstat(region.descriptor, &status) == 0 && status.st_ino == region.identity.inode;
  const auto length = static_cast<std::uint64_t>(status.st_size);
  if (code == BUS_MCEERR_AR) {
    line << "the memory of this machine is damaged there";
  } else if (region.kind != PartKind::file) {
    line << "the machine had no memory left for it";
  } else if (known && length < region.identity.length) {
    line << "the file has shrunk from " << region.identity.length << " to " << length
         << " bytes while it was mapped. Write a new file and rename it over the old one, or open the model with "
            "ModelLoading::copy";
  } else {
    line << "the disk or file server could not give it";
  }
}

/// Whether the signal was sent by the kernel for an access of this thread, and not by kill().
bool is_fault(const siginfo_t& info) noexcept { return info.si_code > 0 && info.si_code != SI_KERNEL; }

/// The thread that is writing a sentence: if that faults as well, nothing is explained.
std::atomic<pid_t> explaining{0};

void explain(int signal, const siginfo_t& info) noexcept {
  const pid_t thread = ::gettid();
  if (explaining.exchange(thread) == thread) return;
  const auto address = reinterpret_cast<std::uintptr_t>(info.si_addr);
  const FaultRegion* region = is_fault(info) ? weights::find_fault_region(address) : nullptr;
  if (region != nullptr) {
    Line line;
    if (signal == SIGBUS) {
      explain_missing_page(line, *region, address, info.si_code);
    } else {
      explain_refusal(line, *region, address);
    }
    line.write();
  }
  explaining = 0;
}

struct sigaction& previous_of(int signal) noexcept {
  return previous[signal == SIGSEGV ? 0 : 1];
}

/// Lets the default happen: by the access itself, which is made again when we return, or by another signal.
void leave_to_default(int signal, const siginfo_t& info) noexcept {
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  ::sigaction(signal, &action, nullptr);
  if (!is_fault(info)) ::raise(signal);
}

void hand_on(int signal, siginfo_t* info, void* context) noexcept {
  const struct sigaction& before = previous_of(signal);
  if ((before.sa_flags & SA_SIGINFO) != 0) {
    before.sa_sigaction(signal, info, context);
  } else if (before.sa_handler == SIG_DFL || before.sa_handler == SIG_IGN) {
    leave_to_default(signal, *info);  // The kernel does not let a fault be ignored either.
  } else {
    before.sa_handler(signal);
  }
}

void on_fault(int signal, siginfo_t* info, void* context) noexcept {
  const int kept = errno;
  explain(signal, *info);
  errno = kept;
  hand_on(signal, info, context);
}

// A handler needs some room even where the program has nearly used up its stack.
void give_alternate_stack() {
  stack_t now{};
  if (::sigaltstack(nullptr, &now) != 0 || (now.ss_flags & SS_DISABLE) == 0) return;
  const auto size = std::max<std::size_t>(static_cast<std::size_t>(SIGSTKSZ), std::size_t{64} << 10U);
  void* const memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED) return;
  const stack_t own{memory, 0, size};
  if (::sigaltstack(&own, nullptr) != 0) ::munmap(memory, size);  // Else it is kept as long as the thread.
}

Result<void> install(std::size_t place) {
  struct sigaction action {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  ::sigemptyset(&action.sa_mask);
  if (::sigaction(signals[place], nullptr, &previous[place]) != 0 ||
      ::sigaction(signals[place], &action, nullptr) != 0) {
    return weights::system_error("set a signal handler", errno);
  }
  return {};
}

}  // namespace

Result<void> explain_model_faults() {
  give_alternate_stack();
  // Once: whoever came after us hands on to us, and to stand in front of him again would be a circle.
  static std::atomic<bool> installed{false};
  if (installed.exchange(true)) return {};
  for (std::size_t place = 0; place < signals.size(); ++place) {
    if (auto done = install(place); !done) return done;
  }
  return {};
}

}  // namespace forklift
