#include "tests/fuzz/corpus.hpp"

#include "tests/fuzz/event_log.hpp"
#include "tests/fuzz/report.hpp"

namespace forklift {
namespace {

TEST(ReportCorpus, EveryFileAndEveryPrefix_KeepsThePromises) { fuzz::run_corpus("report", fuzz::check_report); }

TEST(EventLogCorpus, EveryFileAndEveryPrefix_KeepsThePromises) { fuzz::run_corpus("event_log", fuzz::check_event_log); }

}  // namespace
}  // namespace forklift
