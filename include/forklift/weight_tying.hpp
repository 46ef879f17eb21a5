// Weight tying: which names of a model stand for one tensor, and whether that is still so after a move or a load.
//
// A model ties weights when two of its names (an embedding and an output layer, say) are the same parameter. Moving the
// model to a device, casting or loading it can make them two without a word: each then gets a gradient of its own, the
// copies drift apart, and the model needs more memory. Take a list of NamedParameter before and after, and compare.
//
// Pure functions of values: no tensor is touched, nothing is owned, any thread may call them. A name that is listed
// twice counts as its first entry. They never fail.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace forklift {

/// Which storage a tensor lies in: the same number for the same storage, and for nothing else that lives at the same
/// time. Made by the caller, e.g. a hash of device and address; on XLA the tensor's unique id. 0: not known, which is
/// never tied to anything.
using StorageIdentity = std::uint64_t;

enum class ParameterData {
  present,
  meta,  ///< Shape without data (torch's meta device). It may be tied, and holds no bytes.
};

/// One name of a model, as seen at one moment.
struct NamedParameter {
  std::string name;  ///< Dotted path, as "encoder.layer.0.weight".
  StorageIdentity storage = 0;
  std::uint64_t offset_bytes = 0;  ///< Where its first element lies in the storage.
  std::uint64_t bytes = 0;         ///< From there to the end of its last element. 0: never tied.
  std::uint64_t elements = 0;
  ParameterData data = ParameterData::present;
};

/// Groups of two names or more. Names are sorted within a group, and groups by their first name.
using NameGroups = std::vector<std::vector<std::string>>;

/// The names that stand for one tensor: the same bytes of the same storage, seen as the same number of elements.
NameGroups find_tied(const std::vector<NamedParameter>& parameters);

/// The names whose tensors share a part of their memory without being one tensor, such as a view of some rows of a
/// matrix; names that such tensors chain together are one group. Views that lie side by side in one storage share
/// nothing.
NameGroups find_overlapping(const std::vector<NamedParameter>& parameters);

/// How much a model is.
struct ParameterCount {
  std::size_t names = 0;
  std::size_t tensors = 0;  ///< Names that are tied count once. What a framework calls the number of parameters.
  std::uint64_t bytes = 0;  ///< Memory that the weights take; what several tensors share counts once.
  friend bool operator==(const ParameterCount&, const ParameterCount&) = default;
};

ParameterCount count_parameters(const std::vector<NamedParameter>& parameters);

/// One thing that changed, or that is wrong.
struct TyingDifference {
  enum class Kind : std::uint8_t {
    untied,                 ///< Names that were one tensor are several.
    newly_tied,             ///< Names that were several tensors are one.
    no_longer_overlapping,  ///< Names shared a part of their memory, and do not now.
    newly_overlapping,      ///< Names share a part of their memory, and did not before.
    missing,                ///< Names are gone.
    added,                  ///< Names are new.
    resized,                ///< A name has another number of elements.
    lost_data,              ///< Names had data and are on the meta device.
    stale_optimizer,        ///< The optimizer holds tensors that the model does not use.
    not_optimized,          ///< The optimizer holds what a name was tied to, and not what the name has become.
  };
  Kind kind = Kind::untied;
  std::vector<std::string>
      names;             ///< Those it is about, sorted; empty if the optimizer's tensors were never the model's.
  std::string sentence;  ///< For people: what was, what is, what it does to training. Ends in a full stop.
  friend bool operator==(const TyingDifference&, const TyingDifference&) = default;
};

struct TyingReport {
  ParameterCount before;
  ParameterCount after;
  std::vector<TyingDifference> differences;  ///< In the order of Kind, then by name.

  [[nodiscard]] bool intact() const { return differences.empty(); }
};

/// What an optimizer holds at the time of "after": the storages of its parameters. Empty: no optimizer to check.
using OptimizerStorages = std::vector<StorageIdentity>;

/// Compares a model before and after a move or a load. A cast, which changes bytes but no element, is no difference;
/// `before.bytes` and `after.bytes` show it.
TyingReport verify_tying(const std::vector<NamedParameter>& before, const std::vector<NamedParameter>& after,
                         const OptimizerStorages& optimizer = {});

/// "Assign the tensor of `source` to the name `target`."
struct Retie {
  std::string target;
  std::string source;
  friend bool operator==(const Retie&, const Retie&) = default;
};

/// What makes the ties of `before` hold in `after` again. Of each group the first name, in sorted order, that is still
/// there and has data is the source; a name that is gone is left alone, and so is a group of which nothing has data.
std::vector<Retie> retie_plan(const std::vector<NamedParameter>& before, const std::vector<NamedParameter>& after);

/// What a safetensors file says of names: those that it has, and its metadata, in which its writers note each alias
/// that they left out with the name they kept (safetensors: save_model). Other entries of the metadata are ignored.
struct FileNames {
  std::vector<std::string> tensors;
  std::map<std::string, std::string> metadata;
};

/// A name that the file lacks, and from which of the file's names it gets its values.
struct AliasToRestore {
  enum class Because : std::uint8_t {
    tied_in_model,  ///< The model ties the two names: loading `source` has filled both.
    noted_in_file,  ///< Only the file says that they were one: the values of `source` are to be copied.
  };
  std::string target;
  std::string source;
  Because because = Because::tied_in_model;
  friend bool operator==(const AliasToRestore&, const AliasToRestore&) = default;
};

/// How the names of a file fit the names of a model. All lists are sorted.
struct AliasPlan {
  std::vector<AliasToRestore> restore;  ///< Benign: absent from the file because they are aliases.
  std::vector<std::string> missing;     ///< Really missing: no alias of theirs is in the file either.
  std::vector<std::string> unexpected;  ///< In the file, unknown to the model.
};

/// Tells names that are absent because they are tied from names that are missing. `tied` are the model's groups, as
/// find_tied() gives them; names in it that the model does not have are ignored.
AliasPlan aliases_to_restore(const std::vector<std::string>& model, const NameGroups& tied, const FileNames& file);

}  // namespace forklift
