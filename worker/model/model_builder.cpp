#include "forklift/model_builder.hpp"

#include <fmt/core.h>

#include <cerrno>
#include <set>

#include "worker/format/quoted.hpp"
#include "worker/format/source_layout.hpp"
#include "worker/model/file_io.hpp"
#include "worker/model/fill.hpp"
#include "worker/model/opened.hpp"
#include "worker/model/pack.hpp"
#include "worker/model/store.hpp"

namespace forklift {

struct SharedModel::Builder::State {
  std::vector<CheckedTensor> tensors;
  std::set<std::string, std::less<>> names;
};

namespace {

using weights::FillFailure;
using weights::FillRun;

/// What is copied as it lies.
struct PlainRuns {
  std::vector<FillRun> runs;
  std::vector<const SourceRun*> sources;  ///< One a run.
};

PlainRuns plain_runs(const SourceLayout& layout) {
  PlainRuns plain;
  for (const SourceRun& run : layout.runs) {
    if (run.packed) continue;
    const auto* const memory = reinterpret_cast<const std::byte*>(static_cast<std::uintptr_t>(run.address));
    plain.runs.push_back({-1, 0, memory, run.destination, run.length});
    plain.sources.push_back(&run);
  }
  return plain;
}

/// The name of a tensor at an address, for the sentence about it.
std::string tensor_at(const std::vector<CheckedTensor>& tensors, std::uint64_t address) {
  for (const CheckedTensor& tensor : tensors) {
    if (tensor.address == address && tensor.bytes > 0) return in_quotes(tensor.name);
  }
  return "of the model";
}

Error copy_failed(const std::string& tensor, int os_errno) {
  if (os_errno == EFAULT) {
    return {ErrorKind::usage, fmt::format("tensor {} cannot be copied: its memory cannot be read", tensor), os_errno};
  }
  return weights::system_error("copy tensor " + tensor + " to shared memory", os_errno);
}

Result<void> fill_store(const weights::Store& store, const SourceLayout& layout,
                        const std::vector<CheckedTensor>& tensors, const CopyObserver& observer) {
  const PlainRuns plain = plain_runs(layout);
  const int destination = store.descriptor.get();
  if (const auto failure = weights::fill(destination, plain.runs, observer)) {
    return copy_failed(tensor_at(tensors, plain.sources[failure->run]->address), failure->os_errno);
  }
  for (const SourceRun& run : layout.runs) {
    if (!run.packed) continue;
    if (const int failed = weights::pack(tensors[*run.packed], destination, run.destination); failed != 0) {
      return copy_failed(in_quotes(tensors[*run.packed].name), failed);
    }
  }
  return {};
}

Result<std::shared_ptr<const weights::Opened>> build(const std::vector<CheckedTensor>& tensors,
                                                     const ModelOptions& options) {
  auto planned = lay_out(tensors);
  if (!planned) return planned.error();
  SourceLayout& layout = planned.value();
  auto store = weights::make_store(layout.length, options, "the shared model");
  if (!store) return store.error();
  if (auto filled = fill_store(store.value(), layout, tensors, options.observer); !filled) return filled.error();
  auto finished = weights::finish_store(std::move(store).value(), options.access);
  if (!finished) return finished.error();

  auto opened = std::make_shared<weights::Opened>();
  opened->layout.access = options.access;
  opened->layout.parts.push_back(std::move(finished.value().part));
  opened->layout.tensors = std::move(layout.tensors);
  opened->owned.push_back(std::move(finished.value().descriptor));
  opened->notes = std::move(layout.notes);
  auto notes = add_tied_names(opened->layout, options.tied);
  if (!notes) return notes.error();
  opened->notes.insert(opened->notes.end(), notes.value().begin(), notes.value().end());
  opened->bytes = stored_bytes(opened->layout);
  return std::shared_ptr<const weights::Opened>(std::move(opened));
}

}  // namespace

SharedModel::Builder::Builder() : state_(std::make_unique<State>()) {}
SharedModel::Builder::Builder(Builder&&) noexcept = default;
SharedModel::Builder& SharedModel::Builder::operator=(Builder&&) noexcept = default;
SharedModel::Builder::~Builder() = default;

Result<void> SharedModel::Builder::add(SourceTensor tensor) {
  if (state_->names.contains(tensor.name)) {
    return Error{ErrorKind::usage,
                 fmt::format("tensor {} cannot be shared: there is one of that name already", in_quotes(tensor.name))};
  }
  auto checked = check_source(std::move(tensor));
  if (!checked) return checked.error();
  state_->names.insert(checked.value().name);
  state_->tensors.push_back(std::move(checked).value());
  return {};
}

Result<SharedModel> SharedModel::Builder::finish(const ModelOptions& options) {
  const auto state = std::exchange(state_, std::make_unique<State>());
  auto opened = build(state->tensors, options);
  if (!opened) return opened.error();
  auto mapped = weights::map_model(std::move(opened).value(), options.access, options.prefault);
  if (!mapped) return mapped.error();
  return SharedModel(std::move(mapped).value());
}

}  // namespace forklift
