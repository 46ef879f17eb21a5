// From a path that a user named to open safetensors files.
#pragma once

#include <string>
#include <vector>

#include "forklift/result.hpp"
#include "worker/descriptor.hpp"
#include "worker/format/model_layout.hpp"
#include "worker/format/safetensors.hpp"

namespace forklift::weights {

/// What a path stands for. A folder stands for its model.safetensors, model.safetensors.index.json, or the only such
/// file that it has.
struct ModelPath {
  std::string file;  ///< Absolute.
  enum class Kind { safetensors, index } kind = Kind::safetensors;
};
Result<ModelPath> find_model(const std::string& path);

/// One file whose header was read and checked.
struct ModelFile {
  Descriptor descriptor;
  ModelPart part;  ///< Its `descriptor` is that number.
  SafetensorsHeader header;
};

/// Opens a safetensors file and reads its header, nothing else.
Result<ModelFile> open_model_file(const std::string& path);

struct OpenFiles {
  std::vector<ModelFile> files;
  std::vector<std::string> notes;
};

/// Opens all files of a model.
Result<OpenFiles> open_model_files(const ModelPath& path);

}  // namespace forklift::weights
