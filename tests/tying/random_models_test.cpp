// What must hold for any model. The seed of a failure is printed.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "tests/tying/model_builder.hpp"

namespace forklift {
namespace {

constexpr std::uint64_t seeds = 400;

/// A model of up to 40 names over fewer tensors, some of them views of one storage, and its groups by construction.
struct RandomModel {
  std::vector<NamedParameter> parameters;
  NameGroups groups;
};

class Chance {
 public:
  explicit Chance(std::uint64_t seed) : engine_(seed) {}
  std::uint64_t below(std::uint64_t limit) { return engine_() % limit; }
  template <class T>
  void shuffle(std::vector<T>& list) {
    for (std::size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[below(i)]);
  }

 private:
  std::mt19937_64 engine_;
};

RandomModel random_model(Chance& chance) {
  RandomModel model;
  const std::uint64_t tensors = 1 + chance.below(12);
  int name = 0;
  for (std::uint64_t tensor = 0; tensor < tensors; ++tensor) {
    NamedParameter parameter;
    parameter.storage = 1 + chance.below(6);  // Storages are shared by tensors side by side.
    parameter.offset_bytes = tensor * 1'000'000;
    parameter.elements = 1 + chance.below(1000);
    parameter.bytes = parameter.elements * 4;
    std::vector<std::string> group;
    for (std::uint64_t alias = 1 + chance.below(4); alias > 0; --alias) {
      parameter.name = "layer" + std::to_string(name++) + ".weight";
      group.push_back(parameter.name);
      model.parameters.push_back(parameter);
    }
    std::sort(group.begin(), group.end());
    if (group.size() > 1) model.groups.push_back(group);
  }
  std::sort(model.groups.begin(), model.groups.end());
  chance.shuffle(model.parameters);
  return model;
}

/// As a move to a device does that keeps ties: every storage becomes another one, all different.
std::vector<NamedParameter> moved(std::vector<NamedParameter> parameters) {
  for (NamedParameter& parameter : parameters) parameter.storage = 1'000'003 * parameter.storage + 17;
  return parameters;
}

/// As torch_xla does: every name becomes a tensor of its own, with some chance.
std::vector<NamedParameter> torn(std::vector<NamedParameter> parameters, Chance& chance) {
  StorageIdentity next = 1'000'000'000;
  for (NamedParameter& parameter : parameters) {
    if (chance.below(3) == 0) continue;
    parameter.storage = ++next;
    parameter.offset_bytes = 0;
    if (chance.below(5) == 0) parameter.data = ParameterData::meta;
  }
  return parameters;
}

/// Does what the plan says.
std::vector<NamedParameter> retied(std::vector<NamedParameter> parameters, const std::vector<Retie>& plan) {
  std::map<std::string, NamedParameter*> by_name;
  for (NamedParameter& parameter : parameters) by_name[parameter.name] = &parameter;
  for (const Retie& retie : plan) {
    NamedParameter same = *by_name.at(retie.source);
    same.name = retie.target;
    *by_name.at(retie.target) = same;
  }
  return parameters;
}

TEST(RandomModels, Groups_AreThoseTheModelWasMadeWith) {
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    Chance chance(seed);
    const RandomModel model = random_model(chance);
    ASSERT_EQ(find_tied(model.parameters), model.groups) << "seed " << seed;
    ASSERT_TRUE(find_overlapping(model.parameters).empty()) << "seed " << seed;
  }
}

TEST(RandomModels, MoveThatKeepsTies_IsIntactForAnyOrderOfTheList) {
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    Chance chance(seed);
    const RandomModel model = random_model(chance);
    std::vector<NamedParameter> after = moved(model.parameters);
    chance.shuffle(after);
    const TyingReport report = verify_tying(model.parameters, after);
    ASSERT_TRUE(report.intact()) << "seed " << seed << "\n" << sentences_of(report);
    ASSERT_EQ(report.before, report.after) << "seed " << seed;
    ASSERT_TRUE(retie_plan(model.parameters, after).empty()) << "seed " << seed;
  }
}

TEST(RandomModels, TornModel_IsReportedOncePerGroupAndMendedByThePlan) {
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    Chance chance(seed);
    const RandomModel model = random_model(chance);
    const std::vector<NamedParameter> after = torn(moved(model.parameters), chance);
    const std::vector<Retie> plan = retie_plan(model.parameters, after);
    const std::vector<NamedParameter> mended = retied(after, plan);
    const TyingReport report = verify_tying(model.parameters, after);
    ASSERT_LE(report.differences.size(), model.groups.size() + 1) << "seed " << seed << "\n" << sentences_of(report);
    for (const TyingDifference& difference : report.differences) {
      ASSERT_TRUE(difference.sentence.ends_with('.')) << "seed " << seed;
      ASSERT_FALSE(difference.names.empty()) << "seed " << seed;
    }
    // What is left is without data as a whole: the plan cannot help there, and nothing else is wrong.
    for (const TyingDifference& left : verify_tying(model.parameters, mended).differences) {
      ASSERT_EQ(left.kind, TyingDifference::Kind::lost_data) << "seed " << seed << "\n" << left.sentence;
    }
    ASSERT_LE(count_parameters(mended).tensors, count_parameters(after).tensors) << "seed " << seed;
    ASSERT_TRUE(retie_plan(model.parameters, mended).empty()) << "seed " << seed;
  }
}

TEST(RandomModels, FileThatKeepsOneNameOfEachTensor_MissesNothing) {
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    Chance chance(seed);
    const RandomModel model = random_model(chance);
    std::vector<std::string> names;
    std::map<std::pair<StorageIdentity, std::uint64_t>, std::string> kept;
    for (const NamedParameter& parameter : model.parameters) {
      names.push_back(parameter.name);
      kept.emplace(std::pair{parameter.storage, parameter.offset_bytes}, parameter.name);
    }
    FileNames file;
    for (const auto& [place, name] : kept) file.tensors.push_back(name);
    const AliasPlan plan = aliases_to_restore(names, model.groups, file);
    ASSERT_TRUE(plan.missing.empty() && plan.unexpected.empty()) << "seed " << seed;
    ASSERT_EQ(plan.restore.size() + file.tensors.size(), names.size()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace forklift
