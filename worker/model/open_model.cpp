// From a path to a checked model: its layout, its copy if one is wanted.
#include <fmt/core.h>

#include <cstring>

#include "worker/format/copy_plan.hpp"
#include "worker/format/quoted.hpp"
#include "worker/model/file_io.hpp"
#include "worker/model/fill.hpp"
#include "worker/model/model_files.hpp"
#include "worker/model/opened.hpp"
#include "worker/model/store.hpp"

namespace forklift::weights {
namespace {

void add_file(ModelLayout& layout, ModelFile& file) {
  const auto part = static_cast<std::uint32_t>(layout.parts.size());
  layout.parts.push_back(file.part);
  for (SafetensorsEntry& entry : file.header.tensors) {
    layout.tensors.push_back({std::move(entry.name),
                              entry.dtype,
                              std::move(entry.shape),
                              {},
                              part,
                              file.header.data_begin + entry.begin,
                              entry.end - entry.begin});
  }
}

Result<Opened> describe(const ModelPath& path, OpenFiles files, const NameGroups& tied) {
  Opened opened;
  opened.layout.path = path.file;
  opened.notes = std::move(files.notes);
  for (ModelFile& file : files.files) add_file(opened.layout, file);
  // After all tensors are known: a name that one file removed may be in another.
  for (std::size_t part = 0; part < files.files.size(); ++part) {
    add_metadata_aliases(opened.layout, files.files[part].header.metadata, static_cast<std::uint32_t>(part));
    opened.owned.push_back(std::move(files.files[part].descriptor));
  }
  auto notes = add_tied_names(opened.layout, tied);
  if (!notes) return notes.error();
  opened.notes.insert(opened.notes.end(), notes.value().begin(), notes.value().end());
  opened.bytes = stored_bytes(opened.layout);
  return opened;
}

Error copy_failed(const FillFailure& failure, const ModelLayout& source, const CopyPlan& plan) {
  const std::string& path = source.parts[plan.runs[failure.run].part].path;
  switch (failure.side) {
    case FillFailure::Side::source_ended:
      return {ErrorKind::system, fmt::format("{} became shorter while it was copied", in_quotes(path))};
    case FillFailure::Side::source:
      return system_error("read " + in_quotes(path), failure.os_errno);
    case FillFailure::Side::destination:
      return system_error("copy " + in_quotes(path) + " to shared memory", failure.os_errno);
  }
  return {};
}

/// A file that is being written while we copy it gives a mixture of two models.
Result<void> check_unchanged(const ModelLayout& source) {
  if (auto sentence = changed(source)) return Error{ErrorKind::system, "while it was copied: " + *sentence};
  return {};
}

Result<Opened> copy(Opened source, const ModelOptions& options) {
  auto plan = plan_copy(source.layout);
  if (!plan) return plan.error();
  CopyPlan& planned = plan.value();
  auto store = make_store(planned.length, options, "a copy of " + in_quotes(source.layout.path));
  if (!store) return store.error();

  std::vector<FillRun> runs;
  for (const CopyRun& run : planned.runs) {
    runs.push_back({source.layout.parts[run.part].descriptor, run.source, nullptr, run.destination, run.length});
  }
  if (const auto failure = fill(store.value().descriptor.get(), runs, options.observer)) {
    return copy_failed(*failure, source.layout, planned);
  }
  if (auto checked = check_unchanged(source.layout); !checked) return checked.error();
  auto finished = finish_store(std::move(store).value(), options.access);
  if (!finished) return finished.error();

  Opened copied;
  copied.layout.path = source.layout.path;
  copied.layout.parts.push_back(std::move(finished.value().part));
  copied.layout.tensors = std::move(planned.tensors);
  copied.owned.push_back(std::move(finished.value().descriptor));
  copied.notes = std::move(source.notes);
  copied.bytes = source.bytes;
  return copied;
}

}  // namespace

Result<std::shared_ptr<const Opened>> open_model(const std::string& path, const ModelOptions& options) {
  const auto found = find_model(path);
  if (!found) return found.error();
  auto files = open_model_files(found.value());
  if (!files) return files.error();
  auto opened = describe(found.value(), std::move(files).value(), options.tied);
  if (!opened) return opened.error();
  const bool copied = options.loading == ModelLoading::copy || options.access == ModelAccess::shared;
  if (copied) opened = copy(std::move(opened).value(), options);
  if (!opened) return opened.error();
  opened.value().layout.access = options.access;
  return std::shared_ptr<const Opened>(std::make_shared<Opened>(std::move(opened).value()));
}

}  // namespace forklift::weights
