#include "tests/fuzz/corpus.hpp"
#include "tests/fuzz/model_manifest.hpp"
#include "tests/fuzz/safetensors.hpp"
#include "tests/fuzz/safetensors_index.hpp"

namespace forklift {
namespace {

TEST(SafetensorsCorpus, EveryFileAndEveryPrefix_KeepsThePromises) {
  fuzz::run_corpus("safetensors", fuzz::check_safetensors);
}

TEST(SafetensorsIndexCorpus, EveryFileAndEveryPrefix_KeepsThePromises) {
  fuzz::run_corpus("safetensors_index", fuzz::check_safetensors_index);
}

TEST(ModelManifestCorpus, EveryFileAndEveryPrefix_KeepsThePromises) {
  fuzz::run_corpus("model_manifest", fuzz::check_model_manifest);
}

}  // namespace
}  // namespace forklift
