#include "tests/fuzz/corpus.hpp"
#include "tests/fuzz/error_file.hpp"

namespace forklift {
namespace {

TEST(ErrorFileCorpus, EveryFileAndEveryPrefix_KeepsThePromises) {
  fuzz::run_corpus("error_file", fuzz::check_error_file);
}

}  // namespace
}  // namespace forklift
