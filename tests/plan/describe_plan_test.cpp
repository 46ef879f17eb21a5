#include "launcher/plan/describe_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <nlohmann/json.hpp>
#include <sstream>

#include "launcher/plan/text_layout.hpp"
#include "tests/plan/request_builder.hpp"

namespace forklift {
namespace {

RequestBuilder a_dry_run(int replicas) {
  RequestBuilder builder = a_request().in_total(replicas);
  builder.run_id.clear();
  return builder;
}

TEST(PlanJson, DryRun_KeepsTheContractKeyByKey) {
  RequestBuilder builder = a_dry_run(2).binding(CpuBinding::core).exported("WORLD_SIZE", "9");
  builder.request.arguments = {"--epochs", "3"};
  builder.request.origins["num-processes"] = "command line: --num-processes 2";
  const auto document = nlohmann::json::parse(plan_json(builder.planned()));

  std::vector<std::string> keys;
  for (const auto& [key, value] : document.items()) keys.push_back(key);
  EXPECT_EQ(keys, (std::vector<std::string>{"origins", "replicas", "run_id", "start_method", "version", "warnings",
                                            "world_size"}));
  EXPECT_EQ(document["version"], 1);
  EXPECT_TRUE(document["run_id"].is_null());
  EXPECT_EQ(document["start_method"], "spawn");
  EXPECT_EQ(document["world_size"], 2);
  EXPECT_EQ(document["origins"]["num-processes"], "command line: --num-processes 2");
  EXPECT_EQ(document["warnings"].size(), 1U);

  ASSERT_EQ(document["replicas"].size(), 2U);
  const auto& replica = document["replicas"][1];
  keys.clear();
  for (const auto& [key, value] : replica.items()) keys.push_back(key);
  EXPECT_EQ(keys, (std::vector<std::string>{"argv", "cpus", "env", "local_rank", "node_rank", "rank", "unset"}));
  EXPECT_EQ(replica["rank"], 1);
  EXPECT_EQ(replica["local_rank"], 1);
  EXPECT_EQ(replica["node_rank"], 0);
  EXPECT_EQ(replica["argv"], nlohmann::json({"python3", "-u", "train.py", "--epochs", "3"}));
  EXPECT_EQ(replica["cpus"], nlohmann::json({2, 3}));
  EXPECT_EQ(replica["unset"], nlohmann::json::array());
  EXPECT_EQ(replica["env"]["RANK"], "1");
  EXPECT_EQ(replica["env"]["WORLD_SIZE"], "2");
  EXPECT_EQ(replica["env"]["MASTER_PORT"], "auto");
  EXPECT_EQ(replica["env"]["TORCHELASTIC_RESTART_COUNT"], "0");
  EXPECT_EQ(replica["env"]["TORCHELASTIC_ERROR_FILE"], "${run_dir}/errors/0-1.json");
}

TEST(PlanJson, Environment_IsWhatTheReplicaGets) {
  const Plan plan = a_request().in_total(3).port(4000).planned();
  const auto document = nlohmann::json::parse(plan_json(plan));
  EXPECT_EQ(document["run_id"], "20260101-120000-abcdef");
  AttemptValues values;
  values.run_directory = "${run_dir}";
  values.ports = {4000};
  for (std::size_t local = 0; local < 3; ++local) {
    nlohmann::json expected = nlohmann::json::object();
    for (const auto& [name, value] : resolve_environment(plan, plan.replicas[local], values)) expected[name] = value;
    EXPECT_EQ(document["replicas"][local]["env"], expected);
  }
}

TEST(PlanJson, WorldOfOne_ListsWhatIsUnset) {
  const auto document = nlohmann::json::parse(plan_json(a_dry_run(1).planned()));
  const std::vector<std::string> unset = document["replicas"][0]["unset"];
  EXPECT_NE(std::find(unset.begin(), unset.end(), "RANK"), unset.end());
  EXPECT_FALSE(document["replicas"][0]["env"].contains("RANK"));
}

TEST(PlanJson, BytesThatAreNoUtf8_AreReplaced) {
  const auto document = nlohmann::json::parse(plan_json(a_dry_run(1).env("X", "a\xff").planned()));
  EXPECT_EQ(document["replicas"][0]["env"]["X"], "a\xef\xbf\xbd");
}

TEST(PlanText, EightReplicas_SaysEverythingOnceWithin80Columns) {
  RequestBuilder builder = a_dry_run(8).on(a_host(8)).binding(CpuBinding::core).exported("RANK", "1");
  builder.request.origins["num-processes"] = "command line: --num-processes 8";
  builder.request.arguments = {"--name", "two words"};
  const Plan plan = builder.planned();
  const std::string text = plan_text(plan);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
  for (const char* words : {"8 replicas, started by spawn", "python3 -u train.py --name 'two words'", "master:auto",
                            "rank 7  cpus 7", "LOCAL_RANK=7 RANK=7", "OMP_NUM_THREADS=1",
                            "num-processes: command line: --num-processes 8", "warnings", "left over"}) {
    EXPECT_NE(text.find(words), std::string::npos) << words << "\n" << text;
  }
  EXPECT_EQ(text.find("GROUP_WORLD_SIZE=1"), text.rfind("GROUP_WORLD_SIZE=1")) << "the common part stands once";
  for (const auto& [name, origin] : plan.origins) {
    EXPECT_TRUE(origin == "default" || text.find(name) != std::string::npos) << name;
  }
}

TEST(PlanText, ManyReplicas_IsCutShort) {
  const std::string text = plan_text(a_dry_run(1024).planned());
  EXPECT_NE(text.find("and 1008 replicas more"), std::string::npos) << text.substr(text.size() - 1500);
  EXPECT_LT(std::count(text.begin(), text.end(), '\n'), 120);
}

TEST(PlanText, OptionsThatNobodySet_AreOnlyCounted) {
  RequestBuilder builder = a_dry_run(2);
  builder.request.origins = {{"quiet", "default"}, {"isolate", "default"}, {"num-processes", "command line"}};
  const std::string text = plan_text(builder.planned());
  EXPECT_EQ(text.find("quiet"), std::string::npos);
  EXPECT_NE(text.find("num-processes: command line"), std::string::npos);
  EXPECT_NE(text.find("default: 3 other options"), std::string::npos) << text;  // with the prefix's
}

TEST(PlanText, Supervision_IsShownWhereItWasAskedFor) {
  RequestBuilder builder = a_dry_run(2);
  EXPECT_EQ(supervision_text(builder.planned()), "");
  builder.request.restart.max_restarts = 3;
  builder.request.restart.window = std::chrono::hours(1);
  builder.request.restart.only_on = {{Category::port_in_use, Category::exit_code}};
  builder.request.time.limit = std::chrono::minutes(10);
  builder.request.time.checkpoint_signal = SIGUSR1;
  builder.request.model = ModelRequest{"my model.safetensors", ModelAccess::copy_on_write, ModelLoading::copy};
  builder.request.log_dir = "/data/logs";
  const Plan plan = builder.planned();
  EXPECT_EQ(supervision_text(plan),
            "  restarts    at most 3 within 3600 s, after port_in_use exit_code\n"
            "  time limit  600 s; SIGUSR1 is sent 60 s before\n"
            "  model       'my model.safetensors' (copy-on-write, copied into memory once)\n"
            "  log dir     /data/logs\n");
  EXPECT_NE(plan_text(plan).find(supervision_text(plan)), std::string::npos);
}

TEST(PlanText, DifferentCommands_StandWithTheirReplica) {
  RequestBuilder builder = a_dry_run(2);
  builder.request.arguments = {"--seed={rank}"};
  builder.request.expand_arguments = ArgumentExpansion::expand;
  const std::string text = plan_text(builder.planned());
  EXPECT_NE(text.find("train.py --seed=0"), std::string::npos);
  EXPECT_NE(text.find("train.py --seed=1"), std::string::npos);
}

TEST(TextLayout, ShellWord_IsWhatAShellTakes) {
  const std::map<std::string, std::string> cases = {{"plain-1.0/x=y", "plain-1.0/x=y"},
                                                    {"", "''"},
                                                    {"two words", "'two words'"},
                                                    {"it's", R"('it'\''s')"},
                                                    {"a\nb'", R"($'a\x0ab\'')"}};
  for (const auto& [word, expected] : cases) EXPECT_EQ(shell_word(word), expected);
}

TEST(PlanText, ControlCharactersInExportedValues_DoNotReachTheTerminal) {
  const std::string text =
      plan_text(a_dry_run(2).exported("OMP_NUM_THREADS", "1\x1b[2J\n2").env("X", "a\x1b[0m").planned());
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_NE(text.find("OMP_NUM_THREADS=1\\x1b[2J\\x0a2"), std::string::npos) << text;
}

TEST(TextLayout, Ranges_FoldNeighbours) {
  EXPECT_EQ(ranges({}), "");
  EXPECT_EQ(ranges({3}), "3");
  EXPECT_EQ(ranges({0, 1, 2, 4, 6, 7}), "0-2,4,6-7");
}

TEST(TextLayout, WrappedWords_AreIndentedBelowTheFirst) {
  const std::string word(30, 'x');
  EXPECT_EQ(wrapped("ab: ", {word, word, word}), "ab: " + word + " " + word + "\n    " + word + "\n");
  EXPECT_EQ(wrapped("ab: ", {}), "ab: \n");
}

}  // namespace
}  // namespace forklift
