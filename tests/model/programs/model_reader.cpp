// An executed program that has a model: `model_reader VERB [ARGUMENT…]`. Whatever is refused is written to stderr,
// status 1.
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "forklift/shared_model.hpp"

namespace {

using forklift::ModelAccess;

int refused(const forklift::Error& error) {
  std::fprintf(stderr, "%s\n", error.message.c_str());
  return 1;
}

/// NAME: what is known of the model, and the bytes of one tensor.
int print(const forklift::SharedModel& model, const std::string& name) {
  const auto tensor = model.tensor(name);
  if (!tensor) return refused(tensor.error());
  std::printf("%s %s %llu ", model.path().c_str(), std::string(model.mapped_by()).c_str(),
              static_cast<unsigned long long>(model.bytes()));
  std::fwrite(tensor.value().bytes.data(), 1, tensor.value().bytes.size(), stdout);
  std::puts("");
  return 0;
}

/// NAME TEXT: writes into the tensor, and prints it.
int write(const forklift::SharedModel& model, const std::string& name, std::string_view text) {
  const auto tensor = model.tensor(name);
  if (!tensor) return refused(tensor.error());
  const auto bytes = tensor.value().writable_bytes();
  if (!bytes) return refused(bytes.error());
  text.copy(reinterpret_cast<char*>(bytes.value().data()), bytes.value().size());
  return print(model, name);
}

/// The descriptors above 2 that a program started from here would inherit.
int print_inheritable() {
  for (int descriptor = 3; descriptor < 1024; ++descriptor) {
    const int flags = ::fcntl(descriptor, F_GETFD);
    if (flags >= 0 && (flags & FD_CLOEXEC) == 0) std::printf("%d\n", descriptor);
  }
  return 0;
}

int run(std::string_view verb, char** arguments) {
  const bool own_changes = verb == "write-copy";
  const auto model =
      forklift::SharedModel::from_environment(own_changes ? std::optional(ModelAccess::copy_on_write) : std::nullopt);
  if (!model) return refused(model.error());
  if (verb == "print") return print(model.value(), arguments[0]);
  if (verb == "write" || own_changes) return write(model.value(), arguments[0], arguments[1]);
  if (verb == "inheritable") return print_inheritable();
  if (verb == "store") {  // behind the back of every check
    if (auto explained = forklift::explain_model_faults(); !explained) return refused(explained.error());
    const_cast<std::byte*>(model.value().tensor(arguments[0]).value().bytes.data())[1] = std::byte{1};
  }
  return 64;
}

}  // namespace

int main(int count, char** words) { return count < 2 ? 64 : run(words[1], words + 2); }
