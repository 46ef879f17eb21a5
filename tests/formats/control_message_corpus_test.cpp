#include "tests/fuzz/control_message.hpp"
#include "tests/fuzz/corpus.hpp"

namespace forklift {
namespace {

TEST(ControlMessageCorpus, EveryFileAndEveryPrefix_KeepsThePromises) {
  fuzz::run_corpus("control_message", fuzz::check_control_message);
}

}  // namespace
}  // namespace forklift
