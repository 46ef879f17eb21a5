// A port that another process holds, in the words of each library.
#include <gtest/gtest.h>

#include "tests/diagnose/builders.hpp"

namespace forklift {
namespace {

using testing::an_ending;
using testing::diagnosis_of;
using testing::expect_says;
using testing::traceback_ending_in;

TEST(PortRule, EachLibrarysWords_AreUnderstood) {
  const struct {
    const char* exception;
    const char* port;
  } table[] = {
      {"torch.distributed.DistNetworkError: The server socket has failed to listen on any local network address. port: "
       "29500, useIpv6: false, code: -98, name: EADDRINUSE, message: address already in use",
       "port 29500"},
      {"RuntimeError: The server socket has failed to bind to [::]:44796 (errno: 98 - Address already in use).",
       "port 44796"},
      {"RuntimeError: Address already in use", "a port"},
      {"OSError: [Errno 98] Address already in use", "a port"},
      {"OSError: [Errno 98] error while attempting to bind on address ('127.0.0.1', 8080): address already in use",
       "port 8080"},
      {"torch.distributed.DistBackendError: NCCL error: Call to bind failed: Address already in use", "a port"},
      {"tensorflow.python.framework.errors_impl.UnknownError: Could not start gRPC server", "a port"},
      {"RuntimeError: Failed to add port to server: No address added out of total 1 resolved for 'localhost:4711'",
       "port 4711"},
  };
  for (const auto& row : table) {
    const Diagnosis diagnosis = diagnosis_of(an_ending(0).exited(1).saying(traceback_ending_in(row.exception)));
    EXPECT_EQ(diagnosis.category, Category::port_in_use) << row.exception;
    EXPECT_EQ(diagnosis.summary,
              std::string("Rank 0 (pid 1000) could not listen on ") + row.port + ": another process already uses it.");
  }
}

TEST(PortRule, Holder_IsNamed) {
  AttemptEvidence evidence;
  evidence.port_holder = PortHolder{29500, 333, "python old_run.py"};
  const Diagnosis diagnosis = diagnosis_of(
      an_ending(0).exited(1).saying(traceback_ending_in("RuntimeError: Address already in use")), evidence);
  EXPECT_EQ(diagnosis.summary,
            "Rank 0 (pid 1000) could not listen on port 29500: process 333 (python old_run.py) already uses it.");
  expect_says(diagnosis.advice, "kill 333");
}

TEST(PortRule, HolderOfAnotherPort_IsNotBlamed) {
  AttemptEvidence evidence;
  evidence.port_holder = PortHolder{29500, 333, "python"};
  EXPECT_NE(diagnosis_of(an_ending(0).exited(1).saying(traceback_ending_in(
                             "RuntimeError: failed to bind to [::]:4000 (errno: 98 - Address already in use).")),
                         evidence)
                .summary.find("port 4000: another process"),
            std::string::npos);
}

}  // namespace
}  // namespace forklift
