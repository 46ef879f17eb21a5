// The sentences about faults inside a model, from children that die of them.
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/model/model_test.hpp"

namespace forklift {
namespace {

using namespace support;

void store(const TensorView& tensor, std::size_t byte) {
  const_cast<volatile std::byte*>(tensor.bytes.data())[byte] = std::byte{1};
}

std::byte load(const TensorView& tensor, std::size_t byte) {
  return static_cast<const volatile std::byte*>(tensor.bytes.data())[byte];
}

class ModelFaults : public ModelTest {
 protected:
  std::string path_ = write("m.safetensors", {bytes_tensor("first", 8192), bytes_tensor("second", 100000)});
  std::uintmax_t size_ = std::filesystem::file_size(path_);
};

TEST_F(ModelFaults, Store_NamesTensorByteAndRemedy) {
  const SharedModel model = opened(path_);
  const Ended ended = in_child([&] {
    if (!explain_model_faults()) return 1;
    store(model.tensor("second").value(), 4711);
    return 0;
  });
  EXPECT_EQ(ended.signal, SIGSEGV) << ended;
  EXPECT_EQ(ended.err, "forklift: a store into tensor 'second' (byte 4711 of 100000) of the model '" + path_ +
                           "', which is read-only here: open it with ModelAccess::copy_on_write (changes stay in this "
                           "process) or ModelAccess::shared (all replicas see them)\n");
}

TEST_F(ModelFaults, StoreIntoACopy_NamesTheModelItCameFrom) {
  const SharedModel model = opened(path_, {.loading = ModelLoading::copy});
  const Ended ended = in_child([&] {
    if (!explain_model_faults()) return 1;
    store(model.tensor("first").value(), 0);
    return 0;
  });
  EXPECT_EQ(ended.signal, SIGSEGV) << ended;
  EXPECT_TRUE(contains(ended.err, "tensor 'first' (byte 0 of 8192) of the model '" + path_ + "'")) << ended;
}

TEST_F(ModelFaults, ShrunkFile_NamesBothSizes) {
  const SharedModel model = opened(path_);
  const Ended ended = in_child([&] {
    if (!explain_model_faults()) return 1;
    std::filesystem::resize_file(path_, 4096);
    load(model.tensor("second").value(), 50000);
    return 0;
  });
  EXPECT_EQ(ended.signal, SIGBUS) << ended;
  EXPECT_EQ(ended.err,
            "forklift: tensor 'second' (byte 50000 of 100000) of the model '" + path_ +
                "' cannot be read: the file has shrunk from " + std::to_string(size_) +
                " to 4096 bytes while it was mapped. Write a new file and rename it over the old one, or open "
                "the model with ModelLoading::copy\n");
}

TEST_F(ModelFaults, FaultElsewhere_IsNoneOfOurs) {
  const SharedModel model = opened(path_);
  const Ended ended = in_child([&] {
    if (!explain_model_faults()) return 1;
    void* const nothing = ::mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *static_cast<volatile char*>(nothing) = 1;
    return 0;
  });
  EXPECT_EQ(ended.signal, SIGSEGV) << ended;
  EXPECT_EQ(ended.err, "");
}

TEST_F(ModelFaults, SentSignal_StaysTheCause) {
  const SharedModel model = opened(path_);
  for (const int signal : {SIGSEGV, SIGBUS}) {
    const Ended ended = in_child([&] {
      if (!explain_model_faults()) return 1;
      ::raise(signal);
      return 0;
    });
    EXPECT_EQ(ended.signal, signal) << ended;
    EXPECT_EQ(ended.err, "");
  }
}

TEST_F(ModelFaults, HandlerThatWasThere_ComesAfterTheSentence) {
  const SharedModel model = opened(path_);
  const Ended ended = in_child([&] {
    struct sigaction action {};
    action.sa_flags = SA_SIGINFO;
    action.sa_sigaction = [](int, siginfo_t* info, void*) {
      [[maybe_unused]] const auto written = ::write(STDERR_FILENO, "mine\n", 5);
      ::_exit(info->si_code == SEGV_ACCERR ? 42 : 1);
    };
    ::sigaction(SIGSEGV, &action, nullptr);
    if (!explain_model_faults() || !explain_model_faults()) return 1;
    store(model.tensor("first").value(), 3);
    return 0;
  });
  EXPECT_EQ(ended.exit_code, 42) << ended;
  EXPECT_TRUE(ended.err.starts_with("forklift: a store into tensor 'first' (byte 3 of 8192)")) << ended;
  EXPECT_TRUE(ended.err.ends_with("(all replicas see them)\nmine\n")) << ended;
}

TEST_F(ModelFaults, HandlerThatMends_IsLeftToIt) {
  static std::byte* page = nullptr;
  const Ended ended = in_child([&] {
    struct sigaction action {};
    action.sa_handler = [](int) { ::mprotect(page, 4096, PROT_READ | PROT_WRITE); };
    ::sigaction(SIGSEGV, &action, nullptr);
    if (!explain_model_faults()) return 1;
    for (int round = 0; round < 2; ++round) {  // Twice: it must still be there after the first.
      page = static_cast<std::byte*>(::mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
      *static_cast<volatile std::byte*>(page) = std::byte{1};
    }
    return 0;
  });
  EXPECT_EQ(ended.exit_code, 0) << ended;
  EXPECT_EQ(ended.err, "");
}

TEST_F(ModelFaults, ModelThatIsGone_IsNotSpokenOf) {
  const Ended ended = in_child([&] {
    if (!explain_model_faults()) return 1;
    const std::byte* address = nullptr;
    {
      const SharedModel model = opened(path_);
      address = model.tensor("first").value().bytes.data();
    }
    *const_cast<volatile std::byte*>(address) = std::byte{1};
    return 0;
  });
  EXPECT_EQ(ended.signal, SIGSEGV) << ended;
  EXPECT_EQ(ended.err, "");
}

TEST_F(ModelFaults, NameWithControlCharacters_IsShownInOneLine) {
  const SharedModel model = opened(write_bytes(
      "odd.safetensors", safetensors_file(R"({"a\nb":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})", "x")));
  const Ended ended = in_child([&] {
    if (!explain_model_faults()) return 1;
    store(model.tensor("a\nb").value(), 0);
    return 0;
  });
  EXPECT_EQ(ended.signal, SIGSEGV) << ended;
  EXPECT_TRUE(contains(ended.err, "tensor 'a?b' (byte 0 of 1)")) << ended;
}

}  // namespace
}  // namespace forklift
