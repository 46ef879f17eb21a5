// Names that a file leaves out because they are tied to others.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "forklift/result.hpp"
#include "worker/format/model_layout.hpp"

namespace forklift {

/// Adds a name for each entry of a file's metadata that is {name without tensor: name of a tensor of that part}: what
/// safetensors.torch.save_model leaves of names that it removed. (Other metadata have no tensor's name as their value.)
/// The added name stands for the whole kept tensor: the file does not tell whether it was a part of it.
void add_metadata_aliases(ModelLayout& layout, const std::map<std::string, std::string>& metadata, std::uint32_t part);

/// Adds the names of each group that the layout lacks, for the first name of the group that it has. An error if it has
/// none of them. Returns a sentence for each group of which it has more than one as separate tensors: those stay so.
Result<std::vector<std::string>> add_tied_names(ModelLayout& layout, const NameGroups& groups);

/// The place of a tensor by its name.
class TensorNames {
 public:
  explicit TensorNames(const std::vector<ModelTensor>& tensors);
  /// Its index; empty if there is none. `tensors` must still be as they were.
  [[nodiscard]] std::optional<std::size_t> find(std::string_view name) const;
  /// A name that is there twice; nullptr if none is.
  [[nodiscard]] const std::string* twice() const;

 private:
  const std::vector<ModelTensor>* tensors_;
  std::vector<std::uint32_t> by_name_;
};

}  // namespace forklift
