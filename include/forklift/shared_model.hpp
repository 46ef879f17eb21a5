// SharedModel: the weights of a model, once in memory for all replicas of a machine.
//
//     auto model = forklift::SharedModel::open("bert.safetensors").value();        // in the parent, before it forks
//     auto weight = model.tensor("embeddings.weight").value();                     // in any replica: zero copy
//     std::span<const float> elements = weight.as<float>().value();
//
// A model is opened from safetensors (a file, a sharded index, or a folder with either) or built from tensors that are
// already in memory (SharedModel::Builder). Forked children have it at the same addresses. Programs that are executed
// get it through inherited descriptors: whoever starts them holds a ModelHandle (as `forklift launch --model` does),
// they call forklift::model().
//
// Every rule of the format is checked before a byte is trusted, and what the machine cannot give (memory, a limit, a
// missing system call) is an error here, never a SIGBUS in a replica.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "forklift/model_options.hpp"
#include "forklift/result.hpp"
#include "forklift/tensor_view.hpp"

namespace forklift {

namespace weights {
struct Opened;  // A checked model and its descriptors.
struct Mapped;  // The same, in this process's memory.
struct Shared;  // The same, with its manifest.
class Warming;
}  // namespace weights

class ModelHandle;

/// A mapped model. Copies are cheap and stand for the same mapping, which ends with the last of them; views of tensors
/// live as long. Any thread may use it. After a fork parent and child each have their own.
class SharedModel {
 public:
  class Builder;  // forklift/model_builder.hpp

  /// Opens a .safetensors file, a *.safetensors.index.json, or a folder that holds one of them. Blocks as long as a
  /// copy or prefault takes; otherwise a few milliseconds, whatever the size.
  static Result<SharedModel> open(const std::string& path, const ModelOptions& options = {});

  /// Maps a model whose descriptors this process inherited: `manifest`, and the parts that it names, or that `parts`
  /// name if they have other numbers here. Nothing is read but the manifest. The descriptors stay the caller's and must
  /// stay open as long as the model; they are set to close on exec. Empty `access`: that of the handle; a read-only
  /// model may also be had as copy_on_write.
  static Result<SharedModel> attach(int manifest, std::span<const int> parts = {},
                                    std::optional<ModelAccess> access = {});

  /// attach() to the descriptors that FORKLIFT_MODEL_FD names: what a program does that forklift started with a model.
  static Result<SharedModel> from_environment(std::optional<ModelAccess> access = {});

  /// The view of one tensor; a tied name gives the storage that it stands for.
  [[nodiscard]] Result<TensorView> tensor(std::string_view name) const;
  [[nodiscard]] bool contains(std::string_view name) const;
  /// All of them, in the order in which they lie; tied names that a file lacks come last.
  [[nodiscard]] std::span<const TensorView> tensors() const;

  /// Names that stand for one tensor: the same bytes, as many elements. Sorted within a group, groups by their first
  /// name.
  [[nodiscard]] NameGroups tied_groups() const;

  [[nodiscard]] const std::string& path() const;  ///< Absolute; empty for a model that was built.
  [[nodiscard]] std::uint64_t bytes() const;      ///< Of all storages, each counted once.
  [[nodiscard]] ModelAccess access() const;
  [[nodiscard]] std::string_view mapped_by() const;  ///< "file", "memfd", "huge tmpfs" or "tmpfs".
  /// What is worth telling and no error, one sentence each: an index whose total_size is wrong, a tensor that was
  /// packed.
  [[nodiscard]] const std::vector<std::string>& notes() const;

  /// Whether a mapped file is no longer what was opened (shrunk, written to, replaced), as a sentence; empty if all is
  /// well, and for every copy. Asks the file system.
  [[nodiscard]] std::optional<std::string> changed() const;

  /// Maps all pages now. Never fails: what cannot be mapped ahead is mapped at its first touch.
  void prefault() const;

  /// What a program needs that executes others and hands the model on.
  [[nodiscard]] Result<ModelHandle> share() const;

 private:
  friend class ModelHandle;
  friend class ModelWarmer;
  explicit SharedModel(std::shared_ptr<const weights::Mapped> mapped) : mapped_(std::move(mapped)) {}
  std::shared_ptr<const weights::Mapped> mapped_;
};

/// The model of this replica (`forklift launch --model PATH`): mapped by the first call, the same mapping for every
/// later one. A template calls it before its fork point, and all replicas have it from birth. Errors as
/// from_environment(). Any thread may call it.
const Result<SharedModel>& model();

/// A model that is open and checked, but not mapped: what a launcher holds. It never raises the resident size of its
/// process, which is the least `ru_maxrss` that the kernel reports for the processes it starts.
class ModelHandle {
 public:
  /// The variable by which executed programs learn of their descriptors.
  static constexpr const char* environment_name = "FORKLIFT_MODEL_FD";

  /// SharedModel::open() without the mapping; Prefault is ignored.
  static Result<ModelHandle> open(const std::string& path, const ModelOptions& options = {});

  /// What an executed program must inherit: the manifest, then the parts. All are owned by this handle (and its copies)
  /// and close on exec: who starts the program clears that, in the child. A forked one has them anyway.
  [[nodiscard]] std::vector<int> descriptors() const;

  /// The value of the variable. `numbers`: those that descriptors() get in the child, in the same order; empty: the
  /// same ones.
  [[nodiscard]] std::string environment_value(std::span<const int> numbers = {}) const;

  /// Maps it in this process. (A launcher that wants the pages warm does so in a child that then exits.)
  [[nodiscard]] Result<SharedModel> map(Prefault prefault = Prefault::no) const;

  [[nodiscard]] const std::string& path() const;
  [[nodiscard]] std::uint64_t bytes() const;
  [[nodiscard]] std::size_t tensor_count() const;
  [[nodiscard]] NameGroups tied_groups() const;
  [[nodiscard]] ModelAccess access() const;
  [[nodiscard]] std::string_view mapped_by() const;
  [[nodiscard]] const std::vector<std::string>& notes() const;
  [[nodiscard]] std::optional<std::string> changed() const;

 private:
  friend class SharedModel;
  explicit ModelHandle(std::shared_ptr<const weights::Shared> shared) : shared_(std::move(shared)) {}
  std::shared_ptr<const weights::Shared> shared_;
};

/// prefault() in a thread of its own, so that the first steps of a program do not wait for the pages. The destructor
/// stops it, within some milliseconds, and joins it: let that happen before a fork.
class ModelWarmer {
 public:
  explicit ModelWarmer(SharedModel model);
  ModelWarmer(ModelWarmer&&) noexcept;
  ModelWarmer& operator=(ModelWarmer&&) noexcept;
  ~ModelWarmer();
  /// Until all is mapped.
  void wait();

 private:
  std::unique_ptr<weights::Warming> warming_;
};

/// From now on a SIGSEGV or SIGBUS inside a mapped model writes one sentence to stderr (which tensor, which byte, why,
/// and what to do about it) before whoever handled the signal so far does what it did; the signal stays the cause of
/// the end. Forked children inherit it. The calling thread gets an alternate signal stack, unless it has one. Call it
/// after other handlers are installed (as Python's faulthandler is); a second call changes nothing.
Result<void> explain_model_faults();

}  // namespace forklift
